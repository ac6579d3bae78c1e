package reference;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/** Kafka Streams: words are counted with a repartitioned topic and a kept table, over a restart that has lost its folder. */
public final class Streams extends Program {
    private KafkaStreams counting(String guarantee, Path folder) {
        var builder = new StreamsBuilder();
        builder.<String, String>stream(name("words"))
                .selectKey((key, word) -> word)
                .groupByKey()
                .count(Materialized.as("counts"))
                .toStream()
                .to(name("counts"), Produced.with(Serdes.String(), Serdes.Long()));
        var settings = new Properties();
        settings.putAll(Map.of(
                "application.id", name("app"), "bootstrap.servers", servers, "processing.guarantee", guarantee, "state.dir", folder.toString(), "commit.interval.ms", 200,
                "default.key.serde", Serdes.StringSerde.class, "default.value.serde", Serdes.StringSerde.class, "auto.offset.reset", "earliest"));
        settings.put("statestore.cache.max.bytes", 0);
        settings.put("num.stream.threads", 1);
        settings.put("session.timeout.ms", 6_000); // who stops does not leave its group: the next one waits for this
        settings.put("heartbeat.interval.ms", 1_500);
        return new KafkaStreams(builder.build(), settings);
    }

    private void write(String... words) throws Exception {
        try (var producer = producer()) {
            for (int i = 0; i < words.length; i++) producer.send(new ProducerRecord<>(name("words"), "k" + i, words[i])).get();
        }
    }

    /** The last count of each word, once these are there. */
    private boolean counted(Map<String, Long> wanted, Map<String, Long> found) throws Exception {
        Map<String, Object> settings = new HashMap<>(settings("auto.offset.reset", "earliest", "isolation.level", "read_committed"));
        try (var consumer = new org.apache.kafka.clients.consumer.KafkaConsumer<>(settings, Serdes.String().deserializer(), Serdes.Long().deserializer())) {
            var partitions = List.of(partition(name("counts"), 0), partition(name("counts"), 1));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            return within(60, () -> {
                consumer.poll(SHORT).forEach(r -> found.put(r.key(), r.value()));
                return found.equals(wanted);
            });
        }
    }

    private void count(String guarantee) throws Exception {
        topic("words", 2);
        topic("counts", 2);
        write("a", "b", "a", "c", "a");
        for (int run = 0; run < 2; run++) {
            var folder = Files.createTempDirectory("streams");
            var streams = counting(guarantee, folder);
            var call = run == 0 ? "counted" : "counted on after a restart";
            var wanted = new TreeMap<>(run == 0 ? Map.of("a", 3L, "b", 1L, "c", 1L) : Map.of("a", 4L, "b", 2L, "c", 1L, "d", 1L));
            try {
                streams.start();
                if (run == 1) write("a", "b", "d");
                var found = new TreeMap<String, Long>();
                see(call, () -> counted(wanted, found) + " " + found);
            } finally {
                streams.close(Duration.ofSeconds(20));
                try (var files = Files.walk(folder)) {
                    for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
                }
            }
        }
        see("its topics", () -> {
            List<String> found = new ArrayList<>();
            for (var topic : new TreeSet<>(admin().listTopics().names().get())) if (topic.startsWith(name("app"))) found.add(topic);
            return found;
        });
        see("its group", () -> admin().listGroups().all().get().stream().filter(g -> g.groupId().equals(name("app"))).map(g -> g.type().orElse(null) + " '" + g.protocol() + "'").toList());
    }

    @Trial
    public void at_least_once() throws Exception {
        count("at_least_once");
    }

    @Trial
    public void exactly_once() throws Exception {
        count("exactly_once_v2");
    }
}
