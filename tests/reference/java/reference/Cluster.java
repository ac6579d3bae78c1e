package reference;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.time.Duration;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.quota.ClientQuotaFilterComponent;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/** What an administrator asks of a cluster besides topics and groups: rights, quotas, users, replicas, features. */
public final class Cluster extends Program {
    @Trial
    public void described() throws Exception {
        see("nodes", () -> admin().describeCluster().nodes().get());
        see("controller", () -> admin().describeCluster().controller().get());
        see("what is allowed", () -> new TreeSet<>(admin().describeCluster(new DescribeClusterOptions().includeAuthorizedOperations(true)).authorizedOperations().get()));
        var features = admin().describeFeatures().featureMetadata().get().finalizedFeatures();
        for (var feature : List.of("group.version", "transaction.version", "share.version", "streams.version", "kraft.version", "metadata.version", "eligible.leader.replicas.version"))
            see(feature, () -> features.containsKey(feature) ? features.get(feature).maxVersionLevel() : "(absent)");
        see("quorum", () -> admin().describeMetadataQuorum().quorumInfo().get().leaderId());
        see("features changed", () -> admin().updateFeatures(Map.of("metadata.version", new FeatureUpdate((short) 33, FeatureUpdate.UpgradeType.UPGRADE)), new UpdateFeaturesOptions().validateOnly(true)).all().get());
        see("a broker taken out", () -> admin().unregisterBroker(55).all().get());
        see("metrics asked for", () -> admin().clientInstanceId(Duration.ofSeconds(3)));
    }

    @Trial
    public void rights() {
        see("described", () -> admin().describeAcls(AclBindingFilter.ANY).values().get());
        see("made", () -> admin().createAcls(List.of(new AclBinding(new ResourcePattern(ResourceType.TOPIC, name("t"), PatternType.LITERAL), new AccessControlEntry("User:bob", "*", AclOperation.READ, AclPermissionType.ALLOW)))).all().get());
        see("deleted", () -> admin().deleteAcls(List.of(AclBindingFilter.ANY)).all().get());
        see("tokens", () -> admin().describeDelegationToken().delegationTokens().get());
        see("a token", () -> admin().createDelegationToken().delegationToken().get());
    }

    private Object quota(String entity, String of, String key, double value) throws Exception {
        var change = new ClientQuotaAlteration(new ClientQuotaEntity(Map.of(entity, of)), List.of(new ClientQuotaAlteration.Op(key, value)));
        return admin().alterClientQuotas(List.of(change)).all().get();
    }

    @Trial
    public void quotas() {
        see("of bytes", () -> quota("client-id", name("c"), "producer_byte_rate", 1_000_000));
        see("of time", () -> quota("client-id", name("c"), "request_percentage", 50));
        see("that nobody knows", () -> quota("client-id", name("c"), "nonsense", 1_000));
        see("below zero", () -> quota("client-id", name("c"), "producer_byte_rate", -1));
        see("of an address", () -> quota("ip", "127.0.0.9", "connection_creation_rate", 10));
        var filter = ClientQuotaFilter.contains(List.of(ClientQuotaFilterComponent.ofEntity("client-id", name("c"))));
        see("described", () -> within(20, () -> !admin().describeClientQuotas(filter).entities().get().isEmpty()) + " " + admin().describeClientQuotas(filter).entities().get().values());
    }

    @Trial
    public void users() throws Exception {
        see("made", () -> {
            admin().alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(name("bob"), new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4_096), "password"))).all().get();
            return within(20, () -> admin().describeUserScramCredentials().all().get().containsKey(name("bob")));
        });
        see("described", () -> admin().describeUserScramCredentials(List.of(name("bob"))).all().get().get(name("bob")));
        see("too few iterations", () -> admin().alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(name("bob"), new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 10), "password"))).all().get());
        see("deleted", () -> admin().alterUserScramCredentials(List.of(new UserScramCredentialDeletion(name("bob"), ScramMechanism.SCRAM_SHA_256))).all().get());
        see("one that is not there", () -> admin().describeUserScramCredentials(List.of(name("nobody"))).all().get());
        see("deleted that is not there", () -> admin().alterUserScramCredentials(List.of(new UserScramCredentialDeletion(name("nobody"), ScramMechanism.SCRAM_SHA_256))).all().get());
    }

    @Trial
    public void replicas() throws Exception {
        var topic = topic("t", 1);
        var partition = partition(topic, 0);
        see("where they are", () -> admin().describeLogDirs(List.of(0)).allDescriptions().get().get(0).values().stream().mapToLong(d -> d.replicaInfos().keySet().stream().filter(partition::equals).count()).sum());
        see("moved to a folder that is not there", () -> admin().alterReplicaLogDirs(Map.of(new TopicPartitionReplica(topic, 0, 0), "/nowhere")).all().get());
        see("leader elected", () -> admin().electLeaders(ElectionType.PREFERRED, Set.of(partition)).partitions().get().get(partition).map(e -> e.getClass().getSimpleName()));
        see("leader elected of one that is not there", () -> admin().electLeaders(ElectionType.PREFERRED, Set.of(partition(name("none"), 0))).partitions().get().get(partition(name("none"), 0)).map(e -> e.getClass().getSimpleName()));
        see("moved", () -> admin().alterPartitionReassignments(Map.of(partition, Optional.of(new NewPartitionReassignment(List.of(0))))).all().get());
        see("moved to a broker that is not there", () -> admin().alterPartitionReassignments(Map.of(partition, Optional.of(new NewPartitionReassignment(List.of(77))))).all().get());
        see("moved no more", () -> admin().alterPartitionReassignments(Map.of(partition, Optional.empty())).all().get());
        see("on the move", () -> admin().listPartitionReassignments(Set.of(partition)).reassignments().get());
    }
}
