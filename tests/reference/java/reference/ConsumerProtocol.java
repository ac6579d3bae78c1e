package reference;

import static org.apache.kafka.common.config.ConfigResource.Type.GROUP;

import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;

/** Members of groups of the protocol that the broker assigns by (KIP-848). */
public final class ConsumerProtocol extends Consumers {
    @Override
    String protocol() {
        return "consumer";
    }

    @Override
    void subscribe(Consumer<?, ?> consumer, String pattern) {
        consumer.subscribe(new SubscriptionPattern(pattern));
    }

    @Trial
    public void by_a_pattern_that_is_none() throws Exception {
        topic("t", 1);
        var consumer = member("g");
        consumer.subscribe(new SubscriptionPattern("((("));
        see("told", () -> within(10, () -> consumer.poll(SHORT).count() > 0));
    }

    @Trial
    public void assignors_of_the_broker() throws Exception {
        var topic = topic("t", 4);
        for (var assignor : List.of("uniform", "range", "none"))
            see(assignor, () -> {
                var consumer = member(assignor, "group.remote.assignor", assignor);
                consumer.subscribe(List.of(topic));
                return within(20, () -> {
                    consumer.poll(SHORT);
                    return consumer.assignment().size() == 4;
                });
            });
    }

    @Trial
    public void a_heartbeat_set_for_the_group() throws Exception {
        var topic = topic("t", 1);
        see("set", () -> set(GROUP, name("g"), "consumer.heartbeat.interval.ms", "5500"));
        var consumer = member("g");
        consumer.subscribe(List.of(topic));
        see("taken", () -> within(20, () -> {
            consumer.poll(SHORT);
            return consumer.assignment().size() == 1;
        }));
    }

    @Trial
    public void beside_classic_members() throws Exception {
        var topic = topic("t", 2);
        var classic = consumer("group.id", name("g"));
        classic.subscribe(List.of(topic));
        see("the classic one alone", () -> within(30, () -> {
            classic.poll(SHORT);
            return classic.assignment().size() == 2;
        }));
        var other = member("g");
        other.subscribe(List.of(topic));
        see("one each", () -> within(40, () -> {
            classic.poll(SHORT);
            other.poll(SHORT);
            return classic.assignment().size() == 1 && other.assignment().size() == 1;
        }));
    }
}
