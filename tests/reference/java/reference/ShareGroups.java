package reference;

import static org.apache.kafka.common.config.ConfigResource.Type.GROUP;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;

/** Members of share groups: what they get, acknowledge, give back, keep and lose. */
public final class ShareGroups extends Program {
    private String group(String... settings) throws Exception {
        set(GROUP, name("g"), "share.auto.offset.reset", "earliest");
        for (int i = 0; i < settings.length; i += 2) set(GROUP, name("g"), settings[i], settings[i + 1]);
        return name("g");
    }

    private KafkaShareConsumer<String, String> member(String topic, Object... more) {
        var consumer = shareConsumer(name("g"), more);
        consumer.subscribe(List.of(topic));
        return consumer;
    }

    private static List<ConsumerRecord<String, String>> some(KafkaShareConsumer<String, String> consumer, int seconds) throws Exception {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        within(seconds, () -> {
            consumer.poll(SHORT).forEach(found::add);
            return !found.isEmpty();
        });
        return found;
    }

    private static String told(Map<?, ? extends java.util.Optional<? extends Exception>> commits) {
        return commits.values().stream().map(e -> e.map(x -> "! " + x.getClass().getSimpleName()).orElse("stored")).toList().toString();
    }

    @Trial
    public void explicit() throws Exception {
        var topic = topic("t", 2);
        produce(topic, 2, 40);
        group();
        var consumer = member(topic, "share.acknowledgement.mode", "explicit");
        Map<String, Integer> counts = new TreeMap<>();
        see("all finished", () -> within(40, () -> {
            for (var record : consumer.poll(SHORT)) {
                int number = Integer.parseInt(record.value().substring("value".length()));
                var type = number % 10 == 0 && record.deliveryCount().orElse((short) 0) == 1 ? AcknowledgeType.RELEASE : number % 10 == 1 ? AcknowledgeType.REJECT : AcknowledgeType.ACCEPT;
                counts.merge(type.toString(), 1, Integer::sum);
                consumer.acknowledge(record, type);
            }
            consumer.commitSync();
            return counts.getOrDefault("accept", 0) + counts.getOrDefault("reject", 0) == 40;
        }));
        see("counts", () -> counts);
        see("polled with some unanswered", () -> {
            produce(topic, 1, 1);
            some(consumer, 20);
            return consumer.poll(SHORT).count();
        });
    }

    @Trial
    public void implicit() throws Exception {
        var topic = topic("t", 1);
        produce(topic, 1, 5);
        group();
        int[] count = {0};
        try (var consumer = member(topic)) {
            see("read", () -> within(30, () -> (count[0] += consumer.poll(SHORT).count()) == 5));
            consumer.commitSync();
        }
        see("nothing is left", () -> {
            produce(topic, 1, 1);
            return some(member(topic), 20).stream().map(r -> r.offset() + " " + r.deliveryCount().orElse((short) 0)).toList();
        });
    }

    @Trial
    public void few_at_a_time() throws Exception {
        var topic = topic("t", 1);
        for (int i = 0; i < 9; i++) produce(topic, 1, 1);
        group();
        var consumer = member(topic, "max.poll.records", 3, "share.acquire.mode", "record_limit");
        List<Integer> counts = new ArrayList<>();
        see("all", () -> within(30, () -> {
            int count = consumer.poll(SHORT).count();
            if (count > 0) counts.add(count);
            return counts.stream().mapToInt(c -> c).sum() == 9;
        }));
        see("at a time", () -> counts);
    }

    @Trial
    public void renewed() throws Exception {
        var topic = topic("t", 1);
        produce(topic, 1, 1);
        group();
        var consumer = member(topic, "share.acknowledgement.mode", "explicit");
        see("renewed", () -> {
            var record = some(consumer, 30).get(0);
            consumer.acknowledge(record, AcknowledgeType.RENEW);
            return told(consumer.commitSync());
        });
        see("accepted after it", () -> {
            var record = some(consumer, 30).get(0);
            consumer.acknowledge(record);
            return record.deliveryCount() + " " + told(consumer.commitSync());
        });
    }

    @Trial
    public void a_lock_that_runs_out() throws Exception {
        var topic = topic("t", 1);
        produce(topic, 1, 1);
        group("share.record.lock.duration.ms", "3000");
        var silent = member(topic, "share.acknowledgement.mode", "explicit");
        var record = some(silent, 30).get(0);
        var second = member(topic, "share.acknowledgement.mode", "explicit");
        see("handed on", () -> {
            var again = some(second, 40).get(0);
            second.acknowledge(again);
            return again.deliveryCount() + " " + told(second.commitSync());
        });
        see("acknowledged too late", () -> {
            silent.acknowledge(record);
            return told(silent.commitSync());
        });
    }

    @Trial
    public void the_limit_of_deliveries() throws Exception {
        var topic = topic("t", 1);
        produce(topic, 1, 1);
        group();
        var consumer = member(topic, "share.acknowledgement.mode", "explicit");
        List<Object> counts = new ArrayList<>();
        see("given up after five", () -> {
            within(30, () -> {
                for (var record : consumer.poll(SHORT)) {
                    counts.add(record.deliveryCount().orElse((short) 0));
                    consumer.acknowledge(record, AcknowledgeType.RELEASE);
                }
                consumer.commitSync();
                return counts.size() == 5;
            });
            Thread.sleep(1_000);
            return counts + " then " + consumer.poll(SHORT).count();
        });
    }

    @Trial
    public void of_two_members_each_gets_its_own() throws Exception {
        var topic = topic("t", 1);
        group();
        var one = member(topic, "max.poll.records", 5);
        var other = member(topic, "max.poll.records", 5);
        for (int i = 0; i < 40; i++) produce(topic, 1, 1);
        List<Long> offsets = new ArrayList<>();
        see("each once", () -> {
            within(40, () -> {
                one.poll(SHORT).forEach(r -> offsets.add(r.offset()));
                other.poll(SHORT).forEach(r -> offsets.add(r.offset()));
                return offsets.size() >= 40;
            });
            return offsets.size() + " " + offsets.stream().distinct().count();
        });
    }
}
