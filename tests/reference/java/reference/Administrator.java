package reference;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;

/** Kafka's administrator of the servers in the argument: asked by a line of fields between tabs, answers by a JSON object a line. */
public final class Administrator {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, KafkaStreams> STREAMS = new ConcurrentHashMap<>();

    private Administrator() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        ExecutorService workers = Executors.newCachedThreadPool();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", arguments[0], "request.timeout.ms", "1500", "default.api.timeout.ms", "20000"))) {
            var lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line; (line = lines.readLine()) != null; ) {
                String[] asked = line.split("\t");
                workers.execute(() -> {
                    Map<String, Object> told = new HashMap<>(Map.of("id", Integer.parseInt(asked[0])));
                    try {
                        told.put("found", answer(admin, arguments[0], asked[1], Arrays.copyOfRange(asked, 2, asked.length)));
                    } catch (Exception error) {
                        told.put("failed", String.valueOf(Program.causeOf(error)));
                    }
                    synchronized (out) {
                        out.println(JSON.valueToTree(told).toString());
                        out.flush();
                    }
                });
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static Object answer(Admin admin, String servers, String what, String[] of) throws Exception {
        switch (what) {
            case "create" -> admin.createTopics(List.of(new NewTopic(of[0], Optional.of(Integer.parseInt(of[1])), Optional.empty()))).all().get();
            case "delete" -> admin.deleteTopics(List.of(of[0])).all().get();
            case "forget" -> admin.deleteConsumerGroups(List.of(of[0])).all().get();
            case "move" -> { // the replica that comes first leads
                var place = new TopicPartition(of[0], Integer.parseInt(of[1]));
                var replicas = Arrays.stream(of[2].split(",")).map(Integer::valueOf).toList();
                admin.alterPartitionReassignments(Map.of(place, Optional.of(new NewPartitionReassignment(replicas)))).all().get();
                while (!admin.listPartitionReassignments(Set.of(place)).reassignments().get().isEmpty()) Thread.sleep(50);
                admin.electLeaders(ElectionType.PREFERRED, Set.of(place)).all().get();
            }
            case "stream" -> STREAMS.computeIfAbsent(of[0], group -> streaming(servers, group, of[1])).start();
            case "unstream" -> STREAMS.remove(of[0]).close(Duration.ofSeconds(20));
            case "cluster" -> {
                return cluster(admin);
            }
            case "messages" -> {
                return messages(admin, Set.of(of[0].split(",")));
            }
            default -> throw new IllegalArgumentException(what);
        }
        return null;
    }

    /** Reads a topic in a group of the streams protocol, and commits. */
    private static KafkaStreams streaming(String servers, String group, String topic) {
        var builder = new StreamsBuilder();
        builder.stream(topic).foreach((key, value) -> {});
        var settings = new Properties();
        settings.putAll(Map.of(
                "application.id", group, "bootstrap.servers", servers, "group.protocol", "streams", "commit.interval.ms", 500, "auto.offset.reset", "earliest",
                "default.key.serde", Serdes.ByteArraySerde.class, "default.value.serde", Serdes.ByteArraySerde.class));
        try {
            settings.put("state.dir", Files.createTempDirectory("streams").toString());
        } catch (java.io.IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
        return new KafkaStreams(builder.build(), settings);
    }

    /** Nodes, controller, topics with the leader, replicas and in-sync replicas of each partition, states of groups; what nobody tells soon is left out. */
    private static Map<String, Object> cluster(Admin admin) throws Exception {
        var cluster = admin.describeCluster().nodes();
        var quorum = admin.describeMetadataQuorum().quorumInfo();
        var groups = admin.listGroups();
        var found = new LinkedHashMap<String, Object>();
        found.put("nodes", soon(cluster).stream().map(Node::id).sorted().toList());
        var topics = new LinkedHashMap<String, Object>();
        for (var named : admin.describeTopics(soon(admin.listTopics().names())).topicNameValues().entrySet()) {
            try {
                var parts = soon(named.getValue()).partitions();
                topics.put(named.getKey(), parts.stream().map(p -> List.of(p.leader() == null ? -1 : p.leader().id(), ids(p.replicas()), ids(p.isr()))).toList());
            } catch (ExecutionException gone) {
                continue; // deleted since it was listed
            }
        }
        found.put("topics", topics);
        try {
            found.put("controller", soon(quorum).leaderId());
            if (soon(groups.errors()).isEmpty()) found.put("groups", soon(groups.valid()).stream().filter(g -> !g.protocol().equals("connect")).collect(Collectors.toMap(g -> g.groupId(), g -> String.valueOf(g.groupState().orElse(null)))));
        } catch (TimeoutException | ExecutionException nobody) {
            return found;
        }
        return found;
    }

    private static <T> T soon(KafkaFuture<T> asked) throws Exception {
        return asked.get(700, TimeUnit.MILLISECONDS);
    }

    private static List<Integer> ids(List<Node> nodes) {
        return nodes.stream().map(Node::id).toList();
    }

    /** Committed offsets of these groups, then the ends of the partitions of which they are. */
    private static Map<String, Object> messages(Admin admin, Set<String> groups) throws Exception {
        var asked = groups.stream().collect(Collectors.toMap(g -> g, g -> new ListConsumerGroupOffsetsSpec()));
        Map<String, Map<String, Long>> committed = new LinkedHashMap<>();
        var places = new HashMap<TopicPartition, OffsetSpec>();
        for (var group : admin.listConsumerGroupOffsets(asked).all().get().entrySet()) {
            var offsets = committed.computeIfAbsent(group.getKey(), g -> new LinkedHashMap<>());
            group.getValue().forEach((place, at) -> {
                places.put(place, OffsetSpec.latest());
                if (at != null) offsets.put(place.toString(), at.offset());
            });
        }
        Map<String, Long> ends = new LinkedHashMap<>();
        for (var end : admin.listOffsets(places).all().get().entrySet()) ends.put(end.getKey().toString(), end.getValue().offset());
        return Map.of("committed", committed, "ends", ends);
    }
}
