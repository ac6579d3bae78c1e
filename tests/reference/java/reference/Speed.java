package reference;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * How quick brokers are with the Java client: six partitions, 100 bytes, its default settings.
 *
 * <p>Arguments: how many rounds, how many records, then the brokers, each of which is asked once a round. Prints a JSON object for each: records a second
 * written and read, and milliseconds from the producer to the consumer at 1,000 records a second.
 */
public final class Speed {
    private static final int PARTITIONS = 6;
    private static final int BYTES = 100;
    private static final int PACED = 5_000;

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        int records = Integer.parseInt(arguments[1]);
        for (int round = -1; round < rounds; round++) // the first warms everything up
            for (var servers : List.of(arguments).subList(2, arguments.length)) {
                var told = measured(servers, "speed-" + (round + 1), round < 0 ? records / 4 : records);
                if (round >= 0) System.out.println(new ObjectMapper().writeValueAsString(told));
            }
        Runtime.getRuntime().halt(0);
    }

    private static Map<String, Object> settings(String servers) {
        return new HashMap<>(Map.of("bootstrap.servers", servers));
    }

    private static Map<String, Object> measured(String servers, String topic, int records) throws Exception {
        try (var admin = Admin.create(settings(servers))) {
            admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1), new NewTopic(topic + "-paced", PARTITIONS, (short) 1))).all().get();
            Thread.sleep(1_000);
            Map<String, Object> told = new HashMap<>(Map.of("servers", servers, "produce", produced(servers, topic, records), "consume", consumed(servers, topic, records)));
            told.putAll(paced(servers, topic + "-paced"));
            admin.deleteTopics(List.of(topic, topic + "-paced")).all().get();
            return told;
        }
    }

    private static double produced(String servers, String topic, int records) {
        var value = new byte[BYTES];
        try (var producer = new KafkaProducer<>(settings(servers), new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.partitionsFor(topic);
            long begun = System.nanoTime();
            for (int i = 0; i < records; i++) producer.send(new ProducerRecord<>(topic, i % PARTITIONS, null, value));
            producer.flush();
            return records / ((System.nanoTime() - begun) / 1e9);
        }
    }

    private static KafkaConsumer<byte[], byte[]> reader(String servers, String topic) {
        var consumer = new KafkaConsumer<>(settings(servers), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.assign(IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(topic, p)).toList());
        consumer.seekToBeginning(consumer.assignment());
        return consumer;
    }

    private static double consumed(String servers, String topic, int records) {
        try (var consumer = reader(servers, topic)) {
            consumer.assignment().forEach(consumer::position);
            long begun = System.nanoTime();
            for (int found = 0; found < records; ) found += consumer.poll(Duration.ofSeconds(1)).count();
            return records / ((System.nanoTime() - begun) / 1e9);
        }
    }

    private static Map<String, Double> paced(String servers, String topic) throws Exception {
        var latencies = new double[PACED];
        try (var consumer = reader(servers, topic); var producer = new KafkaProducer<>(settings(servers), new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.partitionsFor(topic);
            consumer.assignment().forEach(consumer::position);
            var sending = new Thread(() -> {
                long begun = System.nanoTime();
                for (int i = 0; i < PACED; i++) {
                    LockSupport.parkNanos(begun + i * 1_000_000L - System.nanoTime());
                    producer.send(new ProducerRecord<>(topic, i % PARTITIONS, null, ByteBuffer.allocate(BYTES).putLong(System.nanoTime()).array()));
                }
            });
            sending.start();
            for (int found = 0; found < PACED; )
                for (var record : consumer.poll(Duration.ofMillis(100))) latencies[found++] = (System.nanoTime() - ByteBuffer.wrap(record.value()).getLong()) / 1e6;
            sending.join();
        }
        Arrays.sort(latencies);
        return Map.of("p50", latencies[PACED / 2], "p99", latencies[PACED * 99 / 100]);
    }
}
