package reference;

import static org.apache.kafka.common.config.ConfigResource.Type.BROKER;
import static org.apache.kafka.common.config.ConfigResource.Type.GROUP;
import static org.apache.kafka.common.config.ConfigResource.Type.TOPIC;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.common.config.ConfigResource;

/** Settings of topics, groups and brokers: which there are, their types, defaults and ranges, and how they are changed. */
public final class Settings extends Program {
    private static final String BROKER_ID = "0";

    private List<ConfigEntry> entries(ConfigResource.Type kind, String of, DescribeConfigsOptions options) throws Exception {
        var entries = admin().describeConfigs(List.of(new ConfigResource(kind, of)), options).all().get().values().iterator().next().entries();
        return entries.stream().sorted(Comparator.comparing(ConfigEntry::name)).toList();
    }

    private String value(ConfigResource.Type kind, String of, String key) throws Exception {
        return entries(kind, of, new DescribeConfigsOptions()).stream().filter(e -> e.name().equals(key)).map(e -> e.value() + " " + e.source()).findFirst().orElse("(absent)");
    }

    private static String told(ConfigEntry entry) {
        return entry.value() + " " + entry.source() + " " + entry.type() + (entry.isReadOnly() ? " read-only" : "") + (entry.isSensitive() ? " sensitive" : "");
    }

    @Trial
    public void of_a_topic() throws Exception {
        var topic = topic("a", 1, "cleanup.policy", "compact");
        for (var entry : entries(TOPIC, topic, new DescribeConfigsOptions())) see(entry.name(), () -> told(entry));
        see("synonyms", () -> entries(TOPIC, topic, new DescribeConfigsOptions().includeSynonyms(true)).stream().filter(e -> e.name().equals("cleanup.policy")).map(e -> e.synonyms().toString()).toList());
        see("documented", () -> entries(TOPIC, topic, new DescribeConfigsOptions().includeDocumentation(true)).stream().allMatch(e -> e.documentation() != null && !e.documentation().isEmpty()));
        see("of one that is not there", () -> entries(TOPIC, name("none"), new DescribeConfigsOptions()));
    }

    @Trial
    public void of_a_group() throws Exception {
        var group = name("g");
        set(GROUP, group, "share.auto.offset.reset", "earliest");
        within(20, () -> value(GROUP, group, "share.auto.offset.reset").startsWith("earliest"));
        for (var entry : entries(GROUP, group, new DescribeConfigsOptions())) see(entry.name(), () -> told(entry));
    }

    @Trial
    public void of_a_broker() {
        see("many", () -> entries(BROKER, BROKER_ID, new DescribeConfigsOptions()).size() > 20);
        for (var key : List.of("log.retention.ms", "message.max.bytes", "auto.create.topics.enable", "compression.type", "group.max.session.timeout.ms", "transaction.max.timeout.ms"))
            see(key, () -> value(BROKER, BROKER_ID, key));
        see("of a broker that is not there", () -> entries(BROKER, "77", new DescribeConfigsOptions().timeoutMs(3_000)));
        see("of a broker without a number", () -> entries(BROKER, "abc", new DescribeConfigsOptions()));
        see("changed", () -> set(BROKER, BROKER_ID, "log.cleaner.threads", "2"));
    }

    @Trial
    public void change() throws Exception {
        var topic = topic("a", 1, "cleanup.policy", "compact");
        see("set", () -> set(TOPIC, topic, "retention.ms", "7200000"));
        see("append", () -> alter(TOPIC, topic, "cleanup.policy", "delete", OpType.APPEND));
        see("after it", () -> within(20, () -> value(TOPIC, topic, "cleanup.policy").contains("delete")) + " " + value(TOPIC, topic, "cleanup.policy") + " " + value(TOPIC, topic, "retention.ms"));
        see("delete", () -> alter(TOPIC, topic, "retention.ms", "", OpType.DELETE));
        see("the default", () -> within(20, () -> value(TOPIC, topic, "retention.ms").contains("DEFAULT")) + " " + value(TOPIC, topic, "retention.ms"));
        see("subtract", () -> alter(TOPIC, topic, "cleanup.policy", "compact", OpType.SUBTRACT));
        see("what is left", () -> within(20, () -> value(TOPIC, topic, "cleanup.policy").startsWith("delete")));
        see("append to what is no list", () -> alter(TOPIC, topic, "retention.ms", "1", OpType.APPEND));
        see("of one that is not there", () -> set(TOPIC, name("none"), "retention.ms", "1"));
    }

    @Trial
    public void ranges_of_topics() throws Exception {
        var topic = topic("a", 1);
        String[][] tried = {
            {"retention.ms", "-5"}, {"retention.ms", "-1"}, {"retention.bytes", "-5"}, {"retention.bytes", "99999999999999999999"}, {"min.insync.replicas", "0"}, {"max.message.bytes", "-1"},
            {"cleanup.policy", "foo"}, {"cleanup.policy", ""}, {"compression.type", "brotli"}, {"compression.type", "zstd"}, {"compression.gzip.level", "10"}, {"compression.lz4.level", "0"},
            {"compression.zstd.level", "3"}, {"message.timestamp.type", "Never"}, {"min.cleanable.dirty.ratio", "2"}, {"min.cleanable.dirty.ratio", "0.3"}, {"segment.bytes", "1"},
            {"segment.ms", "0"}, {"segment.jitter.ms", "-1"}, {"segment.index.bytes", "1"}, {"index.interval.bytes", "-1"}, {"unclean.leader.election.enable", "maybe"}, {"preallocate", "true"},
            {"delete.retention.ms", "1000"}, {"delete.retention.ms", "-1"}, {"message.format.version", "3.0"}, {"remote.storage.enable", "true"}, {"local.retention.ms", "5"}, {"local.retention.bytes", "-3"},
            {"max.compaction.lag.ms", "0"}, {"min.compaction.lag.ms", "-1"}, {"flush.messages", "0"}, {"flush.ms", "-1"}, {"file.delete.delay.ms", "-1"},
            {"message.timestamp.after.max.ms", "-1"}, {"message.timestamp.before.max.ms", "1000"}, {"errors.deadletterqueue.group.enable", "true"},
            {"follower.replication.throttled.replicas", "none"}, {"leader.replication.throttled.replicas", "*"},
        };
        for (var each : tried) see(each[0] + "=" + each[1], () -> set(TOPIC, topic, each[0], each[1]));
    }

    @Trial
    public void ranges_of_groups() {
        String[][] tried = {
            {"consumer.session.timeout.ms", "50000"}, {"consumer.session.timeout.ms", "5"}, {"consumer.heartbeat.interval.ms", "6000"}, {"consumer.heartbeat.interval.ms", "1"},
            {"share.auto.offset.reset", "earliest"}, {"share.auto.offset.reset", "never"}, {"share.auto.offset.reset", "by_duration:PT1H"}, {"share.record.lock.duration.ms", "5000"},
            {"share.record.lock.duration.ms", "500"}, {"share.record.lock.duration.ms", "90000"}, {"share.session.timeout.ms", "50000"}, {"share.session.timeout.ms", "5"}, {"share.heartbeat.interval.ms", "6000"},
            {"share.isolation.level", "read_committed"}, {"share.isolation.level", "none"}, {"share.delivery.count.limit", "3"}, {"share.delivery.count.limit", "1"}, {"share.partition.max.record.locks", "200"},
            {"share.renew.acknowledge.enable", "false"}, {"streams.session.timeout.ms", "50000"}, {"streams.heartbeat.interval.ms", "6000"}, {"streams.num.standby.replicas", "1"},
            {"no.such.setting", "1"},
        };
        for (var each : tried) see(each[0] + "=" + each[1], () -> set(GROUP, name("g"), each[0], each[1]));
    }
}
