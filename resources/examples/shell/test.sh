#!/bin/sh
# A test in a shell: brokerscope with --queue mail --assert everything_done -- sh test.sh
set -eu

ask() {
    curl --silent --show-error --fail --header 'Content-Type: application/json' --data "$2" "$BROKERSCOPE_URL$1"
}

ask /v1/queues/mail/messages '{"messages": [{"value": "a letter"}]}' >/dev/null

# The program under test takes the letter, and hangs; time is moved on, so that nobody waits for the end of its lease.
ask /v1/queues/mail/take '{"holder": "hangs"}' >/dev/null
ask /v1/clock/advance '{"by_ms": 60000}' >/dev/null

# The next one gets it as its second delivery, and acknowledges it.
lease=$(ask /v1/queues/mail/take '{"holder": "works", "timeout_ms": 5000}' | sed -n 's/.*"lease":"\([^"]*\)","attempt":2.*/\1/p')
ask /v1/queues/mail/ack "{\"leases\": [\"$lease\"]}" >/dev/null
echo "the letter came again as $lease"
