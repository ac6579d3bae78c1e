package reference;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** What a program has to work with. A trial tells what it sees by {@link #see}; what differs between brokers by its nature is left out. */
abstract class Program {
    /** What a call has told: its text, and of an error the sentence, which is compared apart. */
    record Seen(String text, String sentence) {}

    static final Duration SHORT = Duration.ofMillis(100);
    private final Map<String, Seen> seen = new LinkedHashMap<>();
    String servers;
    String source; // the real broker, for what copies from one to another
    private String prefix;
    private final List<AutoCloseable> opened = new ArrayList<>();

    void begin(String servers, String source, String prefix) {
        this.servers = servers;
        this.source = source;
        this.prefix = prefix;
    }

    /** A name that no other trial uses. */
    String name(String of) {
        return prefix + of;
    }

    void see(String call, Callable<?> told) {
        Seen result;
        try {
            result = new Seen(plain(told.call()), null);
        } catch (Throwable error) {
            var cause = causeOf(error);
            result = new Seen("! " + cause.getClass().getSimpleName(), plain(cause.getMessage()));
        }
        synchronized (seen) {
            if (seen.put(call, result) != null) throw new IllegalStateException(call + " is told twice");
        }
    }

    /** What has been told so far. */
    Map<String, Seen> seen() {
        synchronized (seen) {
            return new LinkedHashMap<>(seen);
        }
    }

    static Throwable causeOf(Throwable error) {
        while ((error instanceof ExecutionException || error instanceof CompletionException) && error.getCause() != null) error = error.getCause();
        return error;
    }

    /** Without what is made by chance: names, ports, ids and times. */
    String plain(Object told) {
        return String.valueOf(told)
                .replace(prefix, "")
                .replaceAll("127\\.0\\.0\\.1:\\d+", "HOST:PORT")
                .replaceAll("(port|Port)([=: ]+)\\d+", "$1$2PORT")
                .replaceAll("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID")
                .replaceAll("(?<![\\w/+-])(?=[\\w-]*[A-Z])(?=[\\w-]*[0-9a-z])(?=[\\w-]*(?:\\d|-|[a-z][A-Z]{2}))[\\w-]{22}(?![\\w-])", "UUID")
                .replaceAll("(?<!\\d)1[78]\\d{11}(?!\\d)", "TIME");
    }

    <T extends AutoCloseable> T open(T closeable) {
        synchronized (opened) {
            opened.add(closeable);
        }
        return closeable;
    }

    void end() {
        for (int i = opened.size() - 1; i >= 0; i--) {
            try {
                var each = opened.get(i);
                if (each instanceof Admin a) a.close(Duration.ofSeconds(1));
                else if (each instanceof Producer<?, ?> p) p.close(Duration.ofSeconds(1));
                else each.close();
            } catch (Exception ignored) { // closing is no part of what is compared
            }
        }
    }

    interface Condition {
        boolean holds() throws Exception;
    }

    /** Whether it holds in so many seconds; how soon does not matter. An error is one only if it is there at the end: a node learns of a topic or group a moment later. */
    static boolean within(int seconds, Condition condition) throws Exception {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (true) {
            try {
                if (condition.holds()) return true;
                if (System.nanoTime() > end) return false;
            } catch (ExecutionException error) {
                if (System.nanoTime() > end) throw error;
            }
            Thread.sleep(50);
        }
    }

    Map<String, Object> settings(Object... more) {
        Map<String, Object> all = new HashMap<>();
        all.put("bootstrap.servers", servers);
        all.put("request.timeout.ms", 20_000);
        for (int i = 0; i < more.length; i += 2) all.put((String) more[i], more[i + 1]);
        return all;
    }

    private Admin admin;

    synchronized Admin admin() {
        if (admin == null) admin = open(Admin.create(settings("default.api.timeout.ms", 30_000)));
        return admin;
    }

    Producer<String, String> producer(Object... more) {
        var all = settings("max.block.ms", 20_000, "delivery.timeout.ms", 30_000);
        all.putAll(settings(more));
        return open(new KafkaProducer<>(all, new StringSerializer(), new StringSerializer()));
    }

    Consumer<String, String> consumer(Object... more) {
        var all = settings("auto.offset.reset", "earliest", "default.api.timeout.ms", 20_000);
        all.putAll(settings(more));
        return open(new KafkaConsumer<>(all, new StringDeserializer(), new StringDeserializer()));
    }

    KafkaShareConsumer<String, String> shareConsumer(String group, Object... more) {
        var all = settings("group.id", group, "default.api.timeout.ms", 20_000);
        all.putAll(settings(more));
        return open(new KafkaShareConsumer<>(all, new StringDeserializer(), new StringDeserializer()));
    }

    /** A topic of this trial, with so many partitions and these settings. */
    String topic(String of, int partitions, String... settings) throws Exception {
        Map<String, String> configs = new HashMap<>();
        for (int i = 0; i < settings.length; i += 2) configs.put(settings[i], settings[i + 1]);
        var name = name(of);
        admin().createTopics(List.of(new NewTopic(name, partitions, (short) 1).configs(configs))).all().get();
        within(20, () -> admin().describeTopics(List.of(name)).allTopicNames().get().get(name).partitions().stream().allMatch(p -> p.leader() != null));
        return name;
    }

    static TopicPartition partition(String topic, int number) {
        return new TopicPartition(topic, number);
    }

    /** Values 0 to count, turn and turn about over the partitions. */
    void produce(String topic, int partitions, int count) throws Exception {
        try (var producer = new KafkaProducer<>(settings("linger.ms", 20), new StringSerializer(), new StringSerializer())) {
            List<Future<?>> sent = new ArrayList<>();
            for (int i = 0; i < count; i++) sent.add(producer.send(new ProducerRecord<>(topic, i % partitions, "key" + i, "value" + i)));
            for (var each : sent) each.get();
        }
    }

    static List<ConsumerRecord<String, String>> read(Consumer<String, String> consumer, int count, int seconds) {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (found.size() < count && System.nanoTime() < end) consumer.poll(SHORT).forEach(found::add);
        return found;
    }

    static List<String> values(Collection<ConsumerRecord<String, String>> records) {
        return records.stream().map(ConsumerRecord::value).sorted().toList();
    }

    /** Change one setting of a topic, group or broker. */
    String set(ConfigResource.Type kind, String of, String key, String value) throws Exception {
        return alter(kind, of, key, value, AlterConfigOp.OpType.SET);
    }

    String alter(ConfigResource.Type kind, String of, String key, String value, AlterConfigOp.OpType how) throws Exception {
        var change = new AlterConfigOp(new ConfigEntry(key, value), how);
        admin().incrementalAlterConfigs(Map.of(new ConfigResource(kind, of), List.of(change))).all().get();
        return "done";
    }
}
