package reference;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Produces or consumes until it is killed, and writes what it was told: a word and rows of partition and offset, a JSON line each. */
public final class Soak {
    private Soak() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("produce")) {
            produce(arguments[1], arguments[2], arguments[3], Long.parseLong(arguments[4]));
        } else {
            consume(arguments[1], arguments[2], arguments[3]);
        }
    }

    private static void produce(String servers, String topic, String client, long pauseMs) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers", servers, "client.id", client, "delivery.timeout.ms", 180_000, "linger.ms", 5);
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; ; number++) {
                String value = "%s/%d/%d".formatted(client, ProcessHandle.current().pid(), number);
                producer.send(new ProducerRecord<>(topic, String.valueOf(number % 17), value), (told, error) -> {
                    if (error == null) {
                        write("acked", List.of("[%d,%d,\"%s\"]".formatted(told.partition(), told.offset(), value)));
                    }
                });
                Thread.sleep(pauseMs);
            }
        }
    }

    private static void consume(String servers, String topic, String client) {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", servers, "client.id", client, "group.id", client, "auto.offset.reset", "earliest",
                "enable.auto.commit", false, "session.timeout.ms", 6_000, "max.poll.records", 500);
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            while (true) {
                var got = new ArrayList<String>();
                for (ConsumerRecord<String, String> each : consumer.poll(Duration.ofMillis(200))) {
                    got.add("[%d,%d]".formatted(each.partition(), each.offset()));
                }
                if (got.isEmpty()) {
                    continue;
                }
                write("got", got);
                try {
                    consumer.commitSync();
                } catch (org.apache.kafka.common.KafkaException refused) {
                    continue; // the group has moved on
                }
                write("committed", consumer.assignment().stream()
                        .map(place -> "[%d,%d]".formatted(place.partition(), consumer.position(place)))
                        .collect(Collectors.toList()));
            }
        }
    }

    private static synchronized void write(String word, List<String> rows) {
        System.out.println("[\"" + word + "\",[" + String.join(",", rows) + "]]");
        System.out.flush();
    }
}
