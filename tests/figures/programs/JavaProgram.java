import java.io.BufferedReader;
import java.io.FileWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** A consumer of the Java client that is led by its standard input, as the other programs here are.
 *
 * Arguments: servers, client, group, log, topic, and settings as name=value. It knows ["take", n], ["serve"],
 * ["nothing"], ["commit"], ["commit", [[topic, partition, offset]]], ["seek", topic, partition, offset] and ["close"].
 */
public class JavaProgram implements ConsumerRebalanceListener {
    private final KafkaConsumer<String, String> consumer;
    private final BufferedReader told = new BufferedReader(new InputStreamReader(System.in));
    private final FileWriter log;
    private final String client;
    private final List<String> polled = new ArrayList<>();
    private boolean serving = false;

    JavaProgram(String[] words) throws IOException {
        client = words[1];
        log = new FileWriter(words[3], true);
        Properties settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        settings.put("client.id", client);
        settings.put("group.id", words[2]);
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("max.poll.records", "1");
        settings.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        settings.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        for (int at = 5; at < words.length; at++) {
            String[] setting = words[at].split("=", 2);
            settings.put(setting[0], setting[1]);
        }
        consumer = new KafkaConsumer<>(settings);
        consumer.subscribe(List.of(words[4]), this);
    }

    private void write(String did, String topic, int partition, long offset) {
        String line = "{\"client\": \"%s\", \"did\": \"%s\", \"topic\": \"%s\", \"partition\": %d, \"offset\": %d}%n";
        try {
            log.write(String.format(line, client, did, topic, partition, offset));
            log.flush();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        if (did.equals("polled")) {
            polled.add(String.format("[\"%s\", %d, %d]", topic, partition, offset));
        }
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        partitions.forEach(each -> write("gave", each.topic(), each.partition(), -1));
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        partitions.forEach(each -> write("got", each.topic(), each.partition(), -1));
        if (serving) {  // the poll that ends a rebalance would read from them
            consumer.pause(partitions);
        }
    }

    private int poll(int millis) {
        int found = 0;
        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(millis))) {
            write("polled", record.topic(), record.partition(), record.offset());
            found++;
        }
        return found;
    }

    private void obey(String line) throws IOException {
        String[] words = line.replaceAll("[\\[\\]\" ]", "").split(",");
        switch (words[0]) {
            case "take" -> {
                long until = System.nanoTime() + 60_000_000_000L;
                for (int left = Integer.parseInt(words[1]); left > 0 && System.nanoTime() < until; ) {
                    left -= poll(100);
                }
            }
            case "serve" -> {
                serving = true;
                while (!told.ready()) {
                    consumer.pause(consumer.assignment());
                    poll(20);
                }
                serving = false;
                consumer.resume(consumer.assignment());
            }
            case "commit" -> {
                if (words.length > 1) {  // one place and its offset
                    var place = new TopicPartition(words[1], Integer.parseInt(words[2]));
                    consumer.commitSync(Map.of(place, new OffsetAndMetadata(Long.parseLong(words[3]))));
                } else {
                    consumer.commitSync();
                }
                for (var each : consumer.committed(consumer.assignment()).entrySet()) {
                    OffsetAndMetadata offset = each.getValue();
                    if (offset != null) {
                        write("committed", each.getKey().topic(), each.getKey().partition(), offset.offset());
                    }
                }
            }
            case "seek" -> {
                TopicPartition place = new TopicPartition(words[1], Integer.parseInt(words[2]));
                write("sought", place.topic(), place.partition(), Long.parseLong(words[3]));
                consumer.seek(place, Long.parseLong(words[3]));
            }
            case "close" -> consumer.close();
            default -> { }
        }
        System.out.println("[" + String.join(", ", polled) + "]");
        System.out.flush();
        polled.clear();
    }

    public static void main(String[] words) throws IOException {
        JavaProgram program = new JavaProgram(words);
        for (String line = program.told.readLine(); line != null; line = program.told.readLine()) {
            program.obey(line);
        }
    }
}
