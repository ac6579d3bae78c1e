package reference;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;

/** Members of classic groups. */
public final class ClassicConsumers extends Consumers {
    @Override
    String protocol() {
        return "classic";
    }

    @Override
    void subscribe(Consumer<?, ?> consumer, String pattern) {
        consumer.subscribe(Pattern.compile(pattern));
    }

    private void assigned_by(String assignor) throws Exception {
        var topic = topic("t", 3);
        produce(topic, 3, 3);
        List<String> moved = Collections.synchronizedList(new ArrayList<>());
        var strategy = "org.apache.kafka.clients.consumer." + assignor;
        var one = member("g", "partition.assignment.strategy", strategy);
        var other = member("g", "partition.assignment.strategy", strategy);
        one.subscribe(List.of(topic), new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                moved.add("-" + partitions.size());
            }

            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                if (!partitions.isEmpty()) moved.add("+" + partitions.size());
            }
        });
        see("alone", () -> within(30, () -> {
            one.poll(SHORT);
            return one.assignment().size() == 3;
        }));
        other.subscribe(List.of(topic));
        see("together", () -> within(40, () -> {
            one.poll(SHORT);
            other.poll(SHORT);
            return other.assignment().size() > 0 && one.assignment().size() + other.assignment().size() == 3;
        }));
        see("moved", () -> moved + " " + one.assignment().size());
    }

    @Trial
    public void range() throws Exception {
        assigned_by("RangeAssignor");
    }

    @Trial
    public void round_robin() throws Exception {
        assigned_by("RoundRobinAssignor");
    }

    @Trial
    public void sticky() throws Exception {
        assigned_by("StickyAssignor");
    }

    @Trial
    public void cooperative_sticky() throws Exception {
        assigned_by("CooperativeStickyAssignor");
    }

    @Trial
    public void too_long_between_polls() throws Exception {
        var topic = topic("t", 1);
        produce(topic, 1, 1);
        var consumer = member("g", "max.poll.interval.ms", 1_500, "session.timeout.ms", 6_000, "heartbeat.interval.ms", 500, "enable.auto.commit", false);
        consumer.subscribe(List.of(topic));
        read(consumer, 1, 30);
        Thread.sleep(4_000);
        see("a commit", () -> {
            consumer.commitSync();
            return "committed";
        });
    }
}
