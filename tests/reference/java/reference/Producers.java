package reference;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.internals.RecordHeaders;

/** What producers send, and how it comes back. */
public final class Producers extends Program {
    private Object sent(ProducerRecord<String, String> record, Object... settings) throws Exception {
        try (var producer = producer(settings)) {
            RecordMetadata told = producer.send(record).get();
            return told.partition() + ":" + told.offset() + " " + told.hasTimestamp();
        }
    }

    private ConsumerRecord<String, String> last(String topic) {
        var consumer = consumer();
        var partition = partition(topic, 0);
        consumer.assign(List.of(partition));
        consumer.seek(partition, consumer.endOffsets(List.of(partition)).get(partition) - 1);
        return read(consumer, 1, 20).get(0);
    }

    @Trial
    public void compressed() throws Exception {
        var topic = topic("t", 3);
        for (var codec : List.of("none", "gzip", "snappy", "lz4", "zstd"))
            see(codec, () -> {
                try (var producer = producer("compression.type", codec, "linger.ms", 20)) {
                    List<Future<RecordMetadata>> sent = new ArrayList<>();
                    for (int i = 0; i < 200; i++) sent.add(producer.send(new ProducerRecord<>(topic, i % 3, "key" + i, codec + i)));
                    long sum = 0;
                    for (var each : sent) sum += each.get().offset();
                    return sum;
                }
            });
        see("read", () -> {
            var consumer = consumer();
            consumer.assign(List.of(partition(topic, 0), partition(topic, 1), partition(topic, 2)));
            consumer.seekToBeginning(consumer.assignment());
            var found = read(consumer, 1_000, 30);
            return found.size() + " " + found.stream().map(ConsumerRecord::value).distinct().count();
        });
        var packed = topic("packed", 1, "compression.type", "zstd");
        see("by the topic", () -> sent(new ProducerRecord<>(packed, "k", "x".repeat(10_000)), "compression.type", "gzip") + " " + last(packed).value().length());
    }

    @Trial
    public void acknowledged() throws Exception {
        var topic = topic("t", 1);
        for (var acks : List.of("0", "1", "all")) see("acks " + acks, () -> sent(new ProducerRecord<>(topic, "k", "v"), "acks", acks, "enable.idempotence", "false"));
        see("idempotent", () -> sent(new ProducerRecord<>(topic, "k", "v")));
        see("to a topic that is made by it", () -> sent(new ProducerRecord<>(name("made"), "k", "v")));
        see("to a partition that is not there", () -> sent(new ProducerRecord<>(topic, 99, "k", "v"), "max.block.ms", 3_000));
        see("metrics pushed", () -> sent(new ProducerRecord<>(topic, "k", "v"), "enable.metrics.push", true));
    }

    @Trial
    public void content() throws Exception {
        var topic = topic("t", 1);
        see("headers", () -> {
            var headers = new RecordHeaders().add("a", new byte[] {1, 2}).add("a", null).add("ü", "x".getBytes(StandardCharsets.UTF_8));
            sent(new ProducerRecord<>(topic, 0, 1_000L, "k", "v", headers));
            var record = last(topic);
            return Arrays.stream(record.headers().toArray()).map(h -> h.key() + "=" + Arrays.toString(h.value())).toList() + " " + record.leaderEpoch() + " " + record.timestampType() + " " + record.timestamp();
        });
        see("neither key nor value", () -> {
            sent(new ProducerRecord<>(topic, 0, null, null));
            var record = last(topic);
            return record.key() + " " + record.value() + " " + record.serializedKeySize() + " " + record.serializedValueSize();
        });
        see("empty", () -> {
            sent(new ProducerRecord<>(topic, 0, "", ""));
            return last(topic).serializedKeySize() + " " + last(topic).serializedValueSize();
        });
        see("no key in a compacted topic", () -> sent(new ProducerRecord<>(topic("compacted", 1, "cleanup.policy", "compact"), "v")));
    }

    @Trial
    public void large() throws Exception {
        var topic = topic("t", 1);
        var small = topic("small", 1, "max.message.bytes", "2000");
        see("for the broker", () -> sent(new ProducerRecord<>(topic, "k", "x".repeat(2_000_000)), "max.request.size", 5_000_000));
        see("for the topic", () -> sent(new ProducerRecord<>(small, "k", "x".repeat(3_000))));
        see("a batch that is split", () -> {
            Producer<String, String> producer = producer("batch.size", 100_000, "linger.ms", 500);
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 0; i < 40; i++) sent.add(producer.send(new ProducerRecord<>(small, "k", "x".repeat(300))));
            int stored = 0;
            for (var each : sent) {
                try {
                    each.get();
                    stored++;
                } catch (ExecutionException refused) { // counted by what is missing
                }
            }
            return stored;
        });
    }

    @Trial
    public void times() throws Exception {
        var topic = topic("t", 1);
        long now = System.currentTimeMillis();
        see("two hours to come", () -> sent(new ProducerRecord<>(topic, 0, now + Duration.ofHours(2).toMillis(), "k", "v")));
        see("half an hour to come", () -> sent(new ProducerRecord<>(topic, 0, now + Duration.ofMinutes(30).toMillis(), "k", "v")));
        see("two years ago", () -> sent(new ProducerRecord<>(topic, 0, now - Duration.ofDays(730).toMillis(), "k", "v")));
        var strict = topic("strict", 1, "message.timestamp.before.max.ms", "60000", "message.timestamp.after.max.ms", "60000");
        see("an hour ago, where a minute is allowed", () -> sent(new ProducerRecord<>(strict, 0, now - Duration.ofHours(1).toMillis(), "k", "v")));
        see("half an hour to come, where a minute is allowed", () -> sent(new ProducerRecord<>(strict, 0, now + Duration.ofMinutes(30).toMillis(), "k", "v")));
        var appended = topic("appended", 1, "message.timestamp.type", "LogAppendTime");
        see("set by the broker", () -> {
            sent(new ProducerRecord<>(appended, 0, 1_000L, "k", "v"));
            return last(appended).timestampType() + " " + (last(appended).timestamp() >= now);
        });
    }
}
