package reference;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** Members of groups of one protocol. */
abstract class Consumers extends Program {
    private static final int RECORDS = 30;

    abstract String protocol();

    private String topic() throws Exception {
        var topic = topic("t", 3);
        produce(topic, 3, RECORDS);
        return topic;
    }

    Consumer<String, String> member(String group, Object... more) {
        var settings = new ArrayList<Object>(List.of("group.id", name(group), "group.protocol", protocol()));
        settings.addAll(List.of(more));
        return consumer(settings.toArray());
    }

    private static boolean shared(Consumer<?, ?> one, Consumer<?, ?> other, int partitions) {
        one.poll(SHORT);
        other.poll(SHORT);
        var both = new HashSet<>(one.assignment());
        both.addAll(other.assignment());
        return !one.assignment().isEmpty() && !other.assignment().isEmpty() && both.size() == partitions && one.assignment().size() + other.assignment().size() == partitions;
    }

    @Trial
    public void read_and_commit() throws Exception {
        var topic = topic();
        var partition = partition(topic, 0);
        see("read", () -> {
            var consumer = member("g");
            consumer.subscribe(List.of(topic));
            var found = values(read(consumer, RECORDS, 30));
            consumer.commitSync();
            consumer.close();
            return found;
        });
        see("committed", () -> member("g").committed(Set.of(partition)).get(partition));
        see("behind it nothing is read twice", () -> {
            var consumer = member("g");
            consumer.subscribe(List.of(topic));
            within(20, () -> {
                consumer.poll(SHORT);
                return consumer.assignment().size() == 3;
            });
            produce(topic, 3, 3);
            var found = values(read(consumer, 3, 20));
            consumer.close();
            return found;
        });
    }

    @Trial
    public void looked_up() throws Exception {
        var topic = topic();
        var partition = partition(topic, 0);
        var consumer = member("g");
        see("offsets of times", () -> consumer.offsetsForTimes(Map.of(partition, 0L)).get(partition).offset() + " " + consumer.offsetsForTimes(Map.of(partition, 9_999_999_999_999L)).get(partition));
        see("beginning and end", () -> consumer.beginningOffsets(List.of(partition)).get(partition) + " " + consumer.endOffsets(List.of(partition)).get(partition));
        see("partitions", () -> consumer.partitionsFor(topic).size() + " " + consumer.partitionsFor(topic).get(0).inSyncReplicas().length + " " + consumer.listTopics().containsKey(topic));
        see("partitions of a topic that is not there", () -> member("g", "allow.auto.create.topics", false).partitionsFor(name("none")));
        see("position", () -> {
            consumer.assign(List.of(partition));
            return consumer.position(partition) + " " + consumer.committed(Set.of(partition)).get(partition);
        });
    }

    @Trial
    public void where_to_begin() throws Exception {
        var topic = topic();
        see("an hour ago", () -> {
            var consumer = member("b", "auto.offset.reset", "by_duration:PT1H");
            consumer.subscribe(List.of(topic));
            return values(read(consumer, RECORDS, 30)).size();
        });
        for (var reset : List.of("none", "latest"))
            see(reset, () -> {
                var consumer = member("g" + reset.charAt(0), "auto.offset.reset", reset);
                consumer.subscribe(List.of(topic));
                var ready = within(20, () -> {
                    consumer.poll(SHORT);
                    return consumer.assignment().size() == 3 && consumer.position(partition(topic, 0)) >= 0;
                });
                return ready + " " + consumer.position(partition(topic, 0));
            });
        see("sought beyond the end", () -> {
            var consumer = member("g", "auto.offset.reset", "none");
            consumer.assign(List.of(partition(topic, 0)));
            consumer.seek(partition(topic, 0), 10_000_000);
            return read(consumer, 1, 10).size();
        });
    }

    @Trial
    public void commits() throws Exception {
        var partition = partition(topic(), 0);
        var consumer = member("g");
        consumer.assign(List.of(partition));
        see("with metadata", () -> {
            consumer.commitSync(Map.of(partition, new OffsetAndMetadata(7, Optional.of(0), "why")));
            return consumer.committed(Set.of(partition)).get(partition);
        });
        see("with too much of it", () -> commit(consumer, partition, new OffsetAndMetadata(7, "x".repeat(5_000))));
        see("beyond the end", () -> commit(consumer, partition, new OffsetAndMetadata(9_999)));
        see("of a topic that is not there", () -> commit(consumer, partition(name("none"), 0), new OffsetAndMetadata(7)));
    }

    private Object commit(Consumer<?, ?> consumer, TopicPartition partition, OffsetAndMetadata offset) {
        consumer.commitSync(Map.of(partition, offset), Duration.ofSeconds(5));
        return consumer.committed(Set.of(partition)).get(partition);
    }

    abstract void subscribe(Consumer<?, ?> consumer, String pattern);

    @Trial
    public void by_pattern() throws Exception {
        topic();
        topic("tt", 1);
        topic("other", 1);
        see("two topics", () -> {
            var consumer = member("g");
            subscribe(consumer, name("t") + "+");
            return within(20, () -> {
                consumer.poll(SHORT);
                return consumer.assignment().size() == 4;
            }) + " " + consumer.assignment().size();
        });
        see("a topic that comes later", () -> {
            var consumer = member("late", "metadata.max.age.ms", 1_000);
            subscribe(consumer, name("late") + ".*");
            consumer.poll(SHORT);
            topic("later", 2);
            return within(40, () -> {
                consumer.poll(SHORT);
                return consumer.assignment().size() == 2;
            });
        });
    }

    @Trial
    public void two_members() throws Exception {
        var topic = topic();
        var one = member("g");
        var other = member("g");
        one.subscribe(List.of(topic));
        read(one, 1, 30);
        other.subscribe(List.of(topic));
        see("share", () -> within(40, () -> shared(one, other, 3)));
        see("as many each", () -> List.of(one.assignment().size(), other.assignment().size()).stream().sorted().toList());
        see("one that leaves gives all back", () -> {
            other.close();
            return within(40, () -> {
                one.poll(SHORT);
                return one.assignment().size() == 3;
            });
        });
    }

    @Trial
    public void a_growing_topic() throws Exception {
        var topic = topic();
        var consumer = member("g", "metadata.max.age.ms", 1_000);
        consumer.subscribe(List.of(topic));
        read(consumer, 1, 30);
        admin().createPartitions(Map.of(topic, org.apache.kafka.clients.admin.NewPartitions.increaseTo(5))).all().get();
        see("is read whole", () -> within(40, () -> {
            consumer.poll(SHORT);
            return consumer.assignment().size() == 5;
        }));
    }

    @Trial
    public void static_members() throws Exception {
        var topic = topic();
        see("back with what it had", () -> {
            var first = member("g", "group.instance.id", "one");
            first.subscribe(List.of(topic));
            read(first, 1, 30);
            var had = Set.copyOf(first.assignment());
            first.close(CloseOptions.groupMembershipOperation(GroupMembershipOperation.REMAIN_IN_GROUP));
            var again = member("g", "group.instance.id", "one");
            again.subscribe(List.of(topic));
            return within(30, () -> {
                again.poll(SHORT);
                return again.assignment().equals(had);
            });
        });
        see("two of one name", () -> {
            var first = member("f", "group.instance.id", "one");
            var second = member("f", "group.instance.id", "one");
            first.subscribe(List.of(topic));
            read(first, 1, 30);
            second.subscribe(List.of(topic));
            within(30, () -> {
                try {
                    second.poll(SHORT);
                } catch (KafkaException fenced) {
                    throw new IllegalStateException("the second: " + fenced.getClass().getSimpleName());
                }
                try {
                    first.poll(SHORT);
                } catch (KafkaException fenced) {
                    throw new IllegalStateException("the first: " + fenced.getClass().getSimpleName());
                }
                return false;
            });
            return "neither is fenced";
        });
    }
}
