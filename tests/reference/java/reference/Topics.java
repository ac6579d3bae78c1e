package reference;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.Uuid;

/** Topics, as administrators make, describe, grow, shorten and delete them. */
public final class Topics extends Program {
    private Object create(NewTopic... topics) throws Exception {
        admin().createTopics(List.of(topics)).all().get();
        return "made";
    }

    @Trial
    public void create() {
        see("three at once", () -> {
            var made = admin().createTopics(List.of(
                    new NewTopic(name("a"), 3, (short) 1).configs(Map.of("cleanup.policy", "compact", "retention.ms", "3600000")),
                    new NewTopic(name("b"), Optional.of(2), Optional.empty()),
                    new NewTopic(name("c"), Optional.empty(), Optional.empty())));
            made.all().get();
            return made.numPartitions(name("a")).get() + " " + made.replicationFactor(name("a")).get() + " " + made.config(name("a")).get().get("cleanup.policy").value() + " " + made.numPartitions(name("b")).get() + " " + made.numPartitions(name("c")).get();
        });
        see("again", () -> create(new NewTopic(name("a"), 3, (short) 1)));
        see("a space in its name", () -> create(new NewTopic("a b", 1, (short) 1)));
        see("two points as its name", () -> create(new NewTopic("..", 1, (short) 1)));
        see("no name", () -> create(new NewTopic("", 1, (short) 1)));
        see("a name of 250 letters", () -> create(new NewTopic("x".repeat(250), 1, (short) 1)));
        see("replicated three times", () -> create(new NewTopic(name("d"), 1, (short) 3)));
        see("no partition", () -> create(new NewTopic(name("d"), 0, (short) 1)));
        see("a setting that is no number", () -> create(new NewTopic(name("d"), 1, (short) 1).configs(Map.of("retention.ms", "abc"))));
        see("a setting that nobody knows", () -> create(new NewTopic(name("d"), 1, (short) 1).configs(Map.of("no.such", "1"))));
        see("placed by hand", () -> create(new NewTopic(name("e"), Map.of(0, List.of(0), 1, List.of(0)))));
        see("placed on a broker that is not there", () -> create(new NewTopic(name("f"), Map.of(0, List.of(7)))));
        see("tried only", () -> {
            admin().createTopics(List.of(new NewTopic(name("g"), 1, (short) 1)), new CreateTopicsOptions().validateOnly(true)).all().get();
            return admin().listTopics().names().get().contains(name("g"));
        });
        see("the same twice in a request", () -> create(new NewTopic(name("h"), 1, (short) 1), new NewTopic(name("h"), 2, (short) 1)));
    }

    @Trial
    public void names_that_collide() {
        see("with a point", () -> create(new NewTopic(name("a.b"), 1, (short) 1)));
        see("with an underscore", () -> create(new NewTopic(name("a_b"), 1, (short) 1)));
        see("both in a request", () -> create(new NewTopic(name("c.d"), 1, (short) 1), new NewTopic(name("c_d"), 1, (short) 1)));
    }

    private Uuid id(String topic) throws Exception {
        return admin().describeTopics(List.of(topic)).allTopicNames().get().get(topic).topicId();
    }

    @Trial
    public void describe() throws Exception {
        var topic = topic("a", 2);
        see("one", () -> admin().describeTopics(List.of(topic)).allTopicNames().get());
        see("one that is not there", () -> admin().describeTopics(List.of(name("none"))).allTopicNames().get());
        see("by its id", () -> admin().describeTopics(TopicCollection.ofTopicIds(List.of(id(topic)))).allTopicIds().get());
        see("by an id that is not there", () -> admin().describeTopics(TopicCollection.ofTopicIds(List.of(Uuid.randomUuid()))).allTopicIds().get());
        see("with what is allowed", () -> new TreeSet<>(admin().describeTopics(List.of(topic), new DescribeTopicsOptions().includeAuthorizedOperations(true)).allTopicNames().get().get(topic).authorizedOperations()));
        see("two partitions a page", () -> {
            var large = topic("large", 5);
            return admin().describeTopics(List.of(large, topic), new DescribeTopicsOptions().partitionSizeLimitPerResponse(2)).allTopicNames().get().entrySet().stream().map(e -> e.getKey() + e.getValue().partitions().size()).sorted().toList();
        });
        see("among all", () -> admin().listTopics().listings().get().stream().filter(l -> l.name().equals(topic)).map(l -> l.name() + l.isInternal()).toList());
        see("internal ones", () -> {
            consumer("group.id", name("g")).commitSync(Map.of(partition(topic, 0), new org.apache.kafka.clients.consumer.OffsetAndMetadata(0)));
            return admin().listTopics(new ListTopicsOptions().listInternal(true)).listings().get().stream().filter(l -> l.name().equals("__consumer_offsets")).map(l -> l.name() + l.isInternal()).toList();
        });
    }

    @Trial
    public void grow() throws Exception {
        var topic = topic("a", 2);
        see("to four", () -> {
            admin().createPartitions(Map.of(topic, NewPartitions.increaseTo(4))).all().get();
            return within(20, () -> admin().describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size() == 4);
        });
        see("to as many as there are", () -> admin().createPartitions(Map.of(topic, NewPartitions.increaseTo(4))).all().get());
        see("to fewer", () -> admin().createPartitions(Map.of(topic, NewPartitions.increaseTo(1))).all().get());
        see("one that is not there", () -> admin().createPartitions(Map.of(name("none"), NewPartitions.increaseTo(4))).all().get());
        see("placed on a broker that is not there", () -> admin().createPartitions(Map.of(topic, NewPartitions.increaseTo(5, List.of(List.of(7))))).all().get());
    }

    @Trial
    public void offsets() throws Exception {
        var topic = topic("a", 2);
        try (var producer = producer()) {
            for (int i = 0; i < 10; i++) producer.send(new ProducerRecord<>(topic, 0, 1_000L + i, "key" + i, "value" + i)).get();
        }
        Map<String, OffsetSpec> specs = new TreeMap<>(Map.of(
                "earliest", OffsetSpec.earliest(), "latest", OffsetSpec.latest(), "greatest time", OffsetSpec.maxTimestamp(), "a time", OffsetSpec.forTimestamp(1_004),
                "a time to come", OffsetSpec.forTimestamp(99_999_999_999_999L), "earliest here", OffsetSpec.earliestLocal(), "latest elsewhere", OffsetSpec.latestTiered()));
        specs.forEach((call, spec) -> {
            see(call, () -> admin().listOffsets(Map.of(partition(topic, 0), spec)).partitionResult(partition(topic, 0)).get());
            see(call + " of an empty partition", () -> admin().listOffsets(Map.of(partition(topic, 1), spec)).partitionResult(partition(topic, 1)).get());
        });
        see("of what is committed", () -> admin().listOffsets(Map.of(partition(topic, 0), OffsetSpec.latest()), new ListOffsetsOptions(IsolationLevel.READ_COMMITTED)).partitionResult(partition(topic, 0)).get());
    }

    @Trial
    public void offsets_of_no_partition() throws Exception {
        var topic = topic("a", 2);
        see("asked for", () -> {
            try (var quick = org.apache.kafka.clients.admin.Admin.create(settings("default.api.timeout.ms", 3_000, "request.timeout.ms", 3_000, "retry.backoff.ms", 1_000))) {
                return quick.listOffsets(Map.of(partition(topic, 99), OffsetSpec.latest())).all().get();
            }
        });
    }

    private Object shorten(String topic, int partition, long offset) throws Exception {
        return admin().deleteRecords(Map.of(partition(topic, partition), RecordsToDelete.beforeOffset(offset))).lowWatermarks().get(partition(topic, partition)).get().lowWatermark();
    }

    @Trial
    public void delete_records() throws Exception {
        var topic = topic("a", 1);
        produce(topic, 1, 10);
        see("two", () -> shorten(topic, 0, 2));
        see("none", () -> shorten(topic, 0, 1));
        see("beyond the end", () -> shorten(topic, 0, 3_000));
        see("all", () -> shorten(topic, 0, -1));
        see("below zero", () -> shorten(topic, 0, -5));
        see("what is left", () -> admin().listOffsets(Map.of(partition(topic, 0), OffsetSpec.earliest())).partitionResult(partition(topic, 0)).get().offset());
        see("of a compacted topic", () -> shorten(topic("compacted", 1, "cleanup.policy", "compact"), 0, 0));
    }

    @Trial
    public void delete() throws Exception {
        var first = topic("a", 1);
        var second = topic("b", 1);
        see("by name", () -> {
            admin().deleteTopics(List.of(first)).all().get();
            return within(20, () -> !admin().listTopics().names().get().contains(first));
        });
        see("one that is not there", () -> admin().deleteTopics(List.of(name("none"))).all().get());
        see("by id", () -> {
            admin().deleteTopics(TopicCollection.ofTopicIds(List.of(id(second)))).all().get();
            return within(20, () -> !admin().listTopics().names().get().contains(second));
        });
        see("by an id that is not there", () -> admin().deleteTopics(TopicCollection.ofTopicIds(List.of(Uuid.randomUuid()))).all().get());
        see("made again, it is empty and has another id", () -> {
            var topic = topic("c", 1);
            produce(topic, 1, 3);
            var former = id(topic);
            admin().deleteTopics(List.of(topic)).all().get();
            within(20, () -> !admin().listTopics().names().get().contains(topic));
            topic("c", 1);
            return !former.equals(id(topic)) + " " + admin().listOffsets(Map.of(partition(topic, 0), OffsetSpec.latest())).partitionResult(partition(topic, 0)).get().offset();
        });
    }
}
