package reference;

import java.nio.file.Files;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** MirrorMaker 2 from the broker of Apache Kafka into the one that is tried (in a process with libraries of its own version): a topic, its settings, and a group's offsets. */
public final class Mirror extends Program {
    private static final int RECORDS = 50;

    @Trial
    public void a_topic_and_its_group() throws Exception {
        var topic = name("orders") + (servers.equals(source) ? "-onto-itself" : "");
        var group = topic + "-g";
        Map<String, Object> there = new HashMap<>(Map.of("bootstrap.servers", source, "auto.offset.reset", "earliest"));
        try (var admin = Admin.create(there)) {
            admin.createTopics(List.of(new NewTopic(topic, 2, (short) 1).configs(Map.of("retention.ms", "7200000")))).all().get();
        }
        try (var producer = new KafkaProducer<>(there, new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < RECORDS; i++) producer.send(new ProducerRecord<>(topic, i % 2, "k" + i, "v" + i)).get();
        }
        there.put("group.id", group);
        try (var consumer = new KafkaConsumer<>(there, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            read(consumer, RECORDS, 30);
            consumer.commitSync();
        }
        Map<String, String> settings = new HashMap<>(Map.of(
                "clusters", "there,here", "there.bootstrap.servers", source, "here.bootstrap.servers", servers, "there->here.enabled", "true", "here->there.enabled", "false",
                "there->here.topics", topic, "there->here.groups", group, "tasks.max", "1"));
        for (var each : List.of("replication.factor", "checkpoints.topic.replication.factor", "heartbeats.topic.replication.factor", "offset-syncs.topic.replication.factor", "offset.storage.replication.factor", "status.storage.replication.factor", "config.storage.replication.factor")) settings.put(each, "1");
        for (var each : List.of("emit.checkpoints.interval.seconds", "sync.group.offsets.interval.seconds", "refresh.topics.interval.seconds", "refresh.groups.interval.seconds", "sync.topic.configs.interval.seconds", "offset.flush.interval.ms")) settings.put(each, each.endsWith("ms") ? "1000" : "1");
        settings.putAll(Map.of("sync.group.offsets.enabled", "true", "emit.heartbeats.enabled", "false", "offset.lag.max", "0", "sync.topic.acls.enabled", "false", "dedicated.mode.enable.internal.rest", "false"));
        settings.put("consumer.auto.offset.reset", "earliest");
        settings.put("offset-syncs.topic.location", "target");
        var file = Files.createTempFile("mirror", ".properties");
        var all = new Properties();
        all.putAll(settings);
        try (var out = Files.newOutputStream(file)) {
            all.store(out, null);
        }
        var mirror = new ProcessBuilder("java", "-Xmx400m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("mirror"), "org.apache.kafka.connect.mirror.MirrorMaker", file.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        Main.ends(mirror);
        try {
            var copied = List.of(partition("there." + topic, 0), partition("there." + topic, 1));
            see("copied", () -> {
                within(100, () -> admin().listTopics().names().get().contains("there." + topic));
                var consumer = consumer();
                consumer.assign(copied);
                return values(read(consumer, RECORDS, 100)).size();
            });
            see("its setting", () -> admin().describeConfigs(List.of(new org.apache.kafka.common.config.ConfigResource(org.apache.kafka.common.config.ConfigResource.Type.TOPIC, "there." + topic))).all().get().values().iterator().next().get("retention.ms").value());
            see("translated", () -> within(100, () -> {
                var offsets = admin().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
                return offsets.keySet().containsAll(Set.copyOf(copied)) && copied.stream().allMatch(p -> offsets.get(p).offset() == RECORDS / 2);
            }));
        } finally {
            mirror.destroyForcibly().waitFor();
            Files.delete(file);
        }
    }
}
