package reference;

import static org.apache.kafka.common.config.ConfigResource.Type.GROUP;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;

/** Groups of every kind, as administrators see and change them: with members, after the last has left, deleted, expired. */
public final class Groups extends Program {
    private static final int RECORDS = 20;

    private String topic() throws Exception {
        var topic = topic("t", 2);
        produce(topic, 2, RECORDS);
        return topic;
    }

    private Consumer<String, String> member(String topic, Object... more) {
        var consumer = consumer(more);
        consumer.subscribe(List.of(topic));
        read(consumer, RECORDS, 30);
        consumer.commitSync();
        return consumer;
    }

    private KafkaShareConsumer<String, String> shareMember(String topic, String group) throws Exception {
        set(GROUP, group, "share.auto.offset.reset", "earliest");
        var consumer = shareConsumer(group);
        consumer.subscribe(List.of(topic));
        int[] count = {0};
        within(30, () -> (count[0] += consumer.poll(SHORT).count()) >= RECORDS);
        consumer.commitSync();
        return consumer;
    }

    private List<String> listed(ListGroupsOptions options) throws Exception {
        Stream<GroupListing> groups = admin().listGroups(options).all().get().stream().filter(g -> g.groupId().startsWith(name("")));
        return groups.map(g -> g.groupId() + " " + g.type().orElse(null) + " '" + g.protocol() + "' " + g.groupState().orElse(null)).sorted().toList();
    }

    /** Without the parts of its members that clients make, and without epochs: a new topic may raise them at any moment. */
    private static String described(Object group) {
        return String.valueOf(group).replaceAll("memberId=[^,]+", "memberId=M").replaceAll("clientId=[^,]+", "clientId=C").replaceAll("(memberEpoch|groupEpoch|targetAssignmentEpoch)=\\d+", "$1=N");
    }

    private String offsets(String group) throws Exception {
        return admin().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().entrySet().stream().map(e -> plain(e.getKey()) + ":" + e.getValue()).sorted().toList().toString();
    }

    private long shareLag(String group) throws Exception {
        return admin().listShareGroupOffsets(Map.of(group, new ListShareGroupOffsetsSpec())).partitionsToOffsetInfo(group).get().values().stream().mapToLong(o -> o.lag().orElse(1_000L)).sum();
    }

    private String shareOffsets(String group) throws Exception {
        return admin().listShareGroupOffsets(Map.of(group, new ListShareGroupOffsetsSpec())).partitionsToOffsetInfo(group).get().entrySet().stream().map(e -> plain(e.getKey()) + ":" + e.getValue()).sorted().toList().toString();
    }

    @Trial
    public void classic() throws Exception {
        manage("classic");
    }

    @Trial
    public void consumer_protocol() throws Exception {
        manage("consumer");
    }

    private void manage(String protocol) throws Exception {
        var topic = topic();
        var group = name("g");
        var first = partition(topic, 0);
        var member = member(topic, "group.id", group, "group.protocol", protocol, "enable.auto.commit", "false");
        see("listed", () -> listed(new ListGroupsOptions()));
        see("listed by type", () -> listed(new ListGroupsOptions().withTypes(Set.of(GroupType.parse(protocol)))));
        see("listed by state", () -> listed(new ListGroupsOptions().inGroupStates(Set.of(GroupState.STABLE))));
        see("described", () -> described(admin().describeConsumerGroups(List.of(group)).all().get().get(group)));
        see("described as classic", () -> described(admin().describeClassicGroups(List.of(group)).all().get().get(group)));
        see("described as a share group", () -> described(admin().describeShareGroups(List.of(group)).all().get().get(group)));
        see("its offsets", () -> offsets(group));
        see("set while it reads", () -> admin().alterConsumerGroupOffsets(group, Map.of(first, new OffsetAndMetadata(1))).all().get());
        see("offsets deleted while it reads", () -> admin().deleteConsumerGroupOffsets(group, Set.of(first)).all().get());
        see("deleted while it reads", () -> admin().deleteConsumerGroups(List.of(group)).all().get());
        see("deleted as a share group", () -> admin().deleteShareGroups(List.of(group)).all().get());
        see("a member removed that is not there", () -> admin().removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("nobody")))).all().get());
        member.close();
        see("after its last member", () -> within(20, () -> described(admin().describeConsumerGroups(List.of(group)).all().get().get(group)).contains("groupState=Empty")));
        see("listed then", () -> listed(new ListGroupsOptions()));
        see("described then", () -> described(admin().describeConsumerGroups(List.of(group)).all().get().get(group)));
        see("all members removed", () -> admin().removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions()).all().get());
        see("set", () -> {
            admin().alterConsumerGroupOffsets(group, Map.of(first, new OffsetAndMetadata(1, "why"))).all().get();
            return offsets(group);
        });
        see("set beyond the end", () -> {
            admin().alterConsumerGroupOffsets(group, Map.of(first, new OffsetAndMetadata(9_999))).all().get();
            return offsets(group);
        });
        see("set for a partition that is not there", () -> admin().alterConsumerGroupOffsets(group, Map.of(partition(topic, 77), new OffsetAndMetadata(1))).all().get());
        see("set for a topic that is not there", () -> admin().alterConsumerGroupOffsets(group, Map.of(partition(name("none"), 0), new OffsetAndMetadata(1))).all().get());
        see("offsets deleted", () -> {
            admin().deleteConsumerGroupOffsets(group, Set.of(first)).all().get();
            return offsets(group);
        });
        see("offsets deleted of a topic that is not there", () -> admin().deleteConsumerGroupOffsets(group, Set.of(partition(name("none"), 0))).all().get());
        see("deleted", () -> admin().deleteConsumerGroups(List.of(group)).all().get());
        see("deleted again", () -> admin().deleteConsumerGroups(List.of(group)).all().get());
        see("described as it is gone", () -> described(admin().describeConsumerGroups(List.of(group)).all().get().get(group)));
        see("its offsets as it is gone", () -> offsets(group));
    }

    @Trial
    public void assigned_by_hand() throws Exception {
        var topic = topic();
        var group = name("g");
        var consumer = consumer("group.id", group, "enable.auto.commit", "false");
        consumer.assign(List.of(partition(topic, 0), partition(topic, 1)));
        read(consumer, RECORDS, 30);
        consumer.commitSync();
        see("listed", () -> listed(new ListGroupsOptions()));
        see("described", () -> described(admin().describeConsumerGroups(List.of(group)).all().get().get(group)));
        see("its offsets", () -> offsets(group));
        see("set while it reads", () -> admin().alterConsumerGroupOffsets(group, Map.of(partition(topic, 0), new OffsetAndMetadata(1))).all().get());
        see("offsets deleted while it reads", () -> {
            admin().deleteConsumerGroupOffsets(group, Set.of(partition(topic, 0), partition(topic, 1))).all().get();
            return offsets(group);
        });
        see("without offsets", () -> listed(new ListGroupsOptions()));
        see("made by setting its offsets", () -> {
            admin().alterConsumerGroupOffsets(name("new"), Map.of(partition(topic, 0), new OffsetAndMetadata(1))).all().get();
            return described(admin().describeConsumerGroups(List.of(name("new"))).all().get().get(name("new")));
        });
        see("its topic deleted", () -> {
            admin().deleteTopics(List.of(topic)).all().get();
            return within(20, () -> offsets(name("new")).equals("[]"));
        });
        see("deleted", () -> admin().deleteConsumerGroups(List.of(name("new"))).all().get());
    }

    @Trial
    public void share() throws Exception {
        var topic = topic();
        var group = name("g");
        var first = partition(topic, 0);
        var member = shareMember(topic, group);
        see("listed", () -> listed(new ListGroupsOptions()));
        see("described", () -> described(admin().describeShareGroups(List.of(group)).all().get().get(group)));
        see("described as a consumer group", () -> described(admin().describeConsumerGroups(List.of(group)).all().get().get(group)));
        see("its lag", () -> within(20, () -> shareLag(group) == 0)); // Kafka moves the start offset a while after that
        see("set while it reads", () -> admin().alterShareGroupOffsets(group, Map.of(first, 0L)).all().get());
        see("offsets deleted while it reads", () -> admin().deleteShareGroupOffsets(group, Set.of(topic)).all().get());
        see("deleted while it reads", () -> admin().deleteShareGroups(List.of(group)).all().get());
        see("its offsets as those of a consumer group", () -> offsets(group));
        member.close();
        see("after its last member", () -> within(20, () -> described(admin().describeShareGroups(List.of(group)).all().get().get(group)).contains("groupState=Empty")));
        see("described then", () -> described(admin().describeShareGroups(List.of(group)).all().get().get(group)));
        see("listed then", () -> listed(new ListGroupsOptions()));
        see("set", () -> {
            admin().alterShareGroupOffsets(group, Map.of(first, 2L)).all().get();
            return shareLag(group) + " " + shareOffsets(group).contains("t-0:SharePartitionOffsetInfo{startOffset=2,");
        });
        see("set for a partition that is not there", () -> admin().alterShareGroupOffsets(group, Map.of(partition(topic, 77), 2L)).all().get());
        see("read again", () -> {
            List<String> found = new ArrayList<>();
            try (var again = shareConsumer(group)) {
                again.subscribe(List.of(topic));
                within(30, () -> {
                    again.poll(SHORT).forEach(r -> found.add(r.partition() + ":" + r.offset()));
                    return found.size() >= 8;
                });
                again.commitSync();
            }
            return found.stream().sorted().toList();
        });
        see("empty again", () -> within(20, () -> described(admin().describeShareGroups(List.of(group)).all().get().get(group)).contains("groupState=Empty")));
        see("offsets deleted", () -> {
            admin().deleteShareGroupOffsets(group, Set.of(topic)).all().get();
            return shareOffsets(group);
        });
        see("offsets deleted of a topic that is not there", () -> admin().deleteShareGroupOffsets(group, Set.of(name("none"))).all().get());
        see("deleted", () -> admin().deleteShareGroups(List.of(group)).all().get());
        see("deleted again", () -> admin().deleteShareGroups(List.of(group)).all().get());
        see("described as it is gone", () -> described(admin().describeShareGroups(List.of(group)).all().get().get(group)));
    }

    @Trial
    public void a_share_group_that_has_not_read() throws Exception {
        var topic = topic("t", 2);
        var group = name("g");
        set(GROUP, group, "share.auto.offset.reset", "earliest");
        var member = shareConsumer(group);
        member.subscribe(List.of(topic));
        within(20, () -> {
            member.poll(SHORT);
            return described(admin().describeShareGroups(List.of(group)).all().get().get(group)).contains("groupState=Stable");
        });
        see("an offset is told", () -> shareOffsets(group).contains("startOffset"));
        see("set for a topic that it has not subscribed to", () -> {
            member.close();
            within(20, () -> described(admin().describeShareGroups(List.of(group)).all().get().get(group)).contains("groupState=Empty"));
            var other = partition(topic("other", 1), 0);
            return within(20, () -> {
                admin().alterShareGroupOffsets(group, Map.of(other, 0L)).all().get();
                return shareOffsets(group).contains("other-0:SharePartitionOffsetInfo{startOffset=0,");
            });
        });
    }

    @Trial
    public void a_silent_member_expires() throws Exception {
        var topic = topic();
        var group = name("g");
        var member = member(topic, "group.id", group, "session.timeout.ms", "6000", "heartbeat.interval.ms", 2_000, "enable.auto.commit", "false", "max.poll.interval.ms", "6500");
        see("expired", () -> within(30, () -> described(admin().describeConsumerGroups(List.of(group)).all().get().get(group)).contains("groupState=Empty")));
        see("a commit after it", () -> {
            member.commitSync();
            return "committed";
        });
        see("back by polling", () -> within(30, () -> {
            member.poll(SHORT);
            return member.assignment().size() == 2;
        }));
    }

    @Trial
    public void a_static_member() throws Exception {
        var topic = topic();
        var group = name("g");
        member(topic, "group.id", group, "group.instance.id", "one", "enable.auto.commit", "false");
        see("described", () -> described(admin().describeConsumerGroups(List.of(group)).all().get().get(group)));
        see("removed", () -> admin().removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("one")))).all().get());
    }

    @Trial
    public void that_are_not_there() {
        see("consumer group described", () -> admin().describeConsumerGroups(List.of(name("none"))).all().get());
        see("classic group described", () -> admin().describeClassicGroups(List.of(name("none"))).all().get());
        see("share group described", () -> admin().describeShareGroups(List.of(name("none"))).all().get());
        see("streams group described", () -> admin().describeStreamsGroups(List.of(name("none"))).all().get());
        see("its offsets", () -> offsets(name("none")));
        see("its offsets as a share group", () -> shareOffsets(name("none")));
        see("offsets set as a share group", () -> {
            var there = partition(topic("t", 1), 0);
            return within(20, () -> {
                admin().alterShareGroupOffsets(name("none"), Map.of(there, 1L)).all().get();
                return true;
            });
        });
        see("offsets deleted", () -> admin().deleteConsumerGroupOffsets(name("none"), Set.of(partition("t", 0))).all().get());
        see("deleted", () -> admin().deleteConsumerGroups(List.of(name("none"))).all().get());
        see("members removed", () -> admin().removeMembersFromConsumerGroup(name("none"), new RemoveMembersFromConsumerGroupOptions()).all().get());
    }
}
