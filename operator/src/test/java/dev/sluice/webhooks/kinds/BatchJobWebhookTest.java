package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.messages;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.settings;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.webhooks.EmptyCluster;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BatchJobWebhookTest {

  private static final String SUSPEND =
      "{\"op\":\"add\",\"path\":\"/spec/suspend\",\"value\":true}";
  private static final String QUEUE_LABEL =
      "{\"op\":\"add\",\"path\":\"/metadata/labels/kueue.x-k8s.io~1queue-name\","
          + "\"value\":\"default\"}";
  private static final String PRIORITY_LABEL =
      "{\"op\":\"add\",\"path\":\"/metadata/labels/kueue.x-k8s.io~1priority-class\","
          + "\"value\":\"default\"}";

  private static final JsonNode PLAIN =
      yaml(
          """
          kind: Job
          metadata: {name: a, namespace: team, labels: {}, annotations: {}}
          spec:
            parallelism: 4
            completions: 10
            completionMode: NonIndexed
            template: {metadata: {annotations: {}}, spec: {containers: [{name: c}]}}
          """);
  private static final JsonNode QUEUED =
      edited(PLAIN, set("/metadata/labels", "{kueue.x-k8s.io/queue-name: training}"));
  private static final JsonNode SUSPENDED = edited(QUEUED, set("/spec/suspend", "true"));
  private static final JsonNode RUNNING = edited(QUEUED, set("/spec/suspend", "false"));

  private static BatchJobWebhook rules(Reviews.Cluster cluster, String... gates) {
    return new BatchJobWebhook(settings(gates), cluster);
  }

  private final BatchJobWebhook rules = rules(Reviews.Cluster.EMPTY);

  // ---- defaulting

  @Test
  void aJobWithAQueueIsSuspended() {
    assertThat(Reviews.patch(rules.mutate(create(QUEUED)))).containsExactly(SUSPEND);
    assertThat(Reviews.patch(rules.mutate(create(SUSPENDED)))).isEmpty();
    assertThat(Reviews.patch(rules.mutate(create(RUNNING))))
        .containsExactly("{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":true}");
  }

  @Test
  void theOldAnnotationIsAQueueNameAndStaysWhereItIs() {
    JsonNode old =
        edited(PLAIN, set("/metadata/annotations", "{kueue.x-k8s.io/queue-name: training}"));
    BatchJobWebhook withDefault = rules(new Reviews.Cluster(true, false, false, Map.of()));

    assertThat(Reviews.patch(withDefault.mutate(create(old)))).containsExactly(SUSPEND);
  }

  /** Whoever starts it again and again would keep its quota from those who preempt it. */
  @Test
  void aJobThatIsBeingEvictedIsNotStarted() {
    JsonNode stopped = edited(SUSPENDED, set("/metadata/uid", "evicted"));
    JsonNode started = edited(RUNNING, set("/metadata/uid", "evicted"));
    BatchJobWebhook evicting = rules(new Reviews.Cluster(false, false, false, Map.of(), "evicted"));

    assertThat(Reviews.messages(evicting.validate(update(stopped, started))))
        .containsExactly(
            "spec.suspend: Forbidden: may not be false while the Workload of the job is evicted and"
                + " its pods have to end");
    JsonNode leaving =
        edited(started, set("/metadata/deletionTimestamp", "'2026-03-01T10:00:00Z'"));
    assertThat(Reviews.messages(evicting.validate(update(stopped, leaving)))).hasSize(1);
    assertThat(Reviews.messages(evicting.validate(update(started, started)))).isEmpty();
    assertThat(Reviews.messages(evicting.validate(update(SUSPENDED, RUNNING)))).isEmpty();
  }

  /** A cluster with two queues, in which the jobs of one run elsewhere. */
  private static final class Sending implements ClusterLookup {
    private final Reviews.Cluster rest = Reviews.Cluster.EMPTY;

    @Override
    public boolean runsElsewhere(String namespace, String queue) {
      return namespace.equals("team") && queue.equals("training");
    }

    @Override
    public Optional<Set<String>> localQueuesWithout(String namespace, String queue) {
      return Optional.of(Set.of("training", "here")).filter(known -> !known.contains(queue));
    }

    @Override
    public Optional<Set<String>> priorityClassesWithout(String name) {
      return Optional.of(Set.of("low", "high")).filter(known -> !known.contains(name));
    }

    @Override
    public boolean hasDefaultLocalQueue(String namespace) {
      return rest.hasDefaultLocalQueue(namespace);
    }

    @Override
    public boolean hasDefaultPriorityClass() {
      return rest.hasDefaultPriorityClass();
    }

    @Override
    public Map<String, String> namespaceLabels(String namespace) {
      return rest.namespaceLabels(namespace);
    }

    @Override
    public boolean isManaged(String namespace, Owner owner) {
      return rest.isManaged(namespace, owner);
    }
  }

  @Test
  void aJobWhoseQueueSendsJobsElsewhereIsMarkedUnlessSomebodyElseRunsIt() {
    BatchJobWebhook sending = new BatchJobWebhook(settings("MultiKueue"), new Sending());
    String mark = "\"path\":\"/spec/managedBy\",\"value\":\"kueue.x-k8s.io/multikueue\"}";
    JsonNode ordinary = edited(SUSPENDED, set("/spec/managedBy", "kubernetes.io/job-controller"));
    JsonNode others = edited(SUSPENDED, set("/spec/managedBy", "example.org/runner"));
    JsonNode otherQueue =
        edited(SUSPENDED, set("/metadata/labels", "{kueue.x-k8s.io/queue-name: here}"));

    assertThat(Reviews.patch(sending.mutate(create(SUSPENDED))))
        .containsExactly("{\"op\":\"add\"," + mark);
    assertThat(Reviews.patch(sending.mutate(create(ordinary))))
        .containsExactly("{\"op\":\"replace\"," + mark);
    assertThat(Reviews.patch(sending.mutate(create(others)))).isEmpty();
    assertThat(Reviews.patch(sending.mutate(create(otherQueue)))).isEmpty();
    assertThat(Reviews.patch(rules.mutate(create(SUSPENDED)))).isEmpty();
  }

  @Test
  void aJobWithoutAQueueIsLeftAlone() {
    assertThat(Reviews.patch(rules.mutate(create(PLAIN)))).isEmpty();
  }

  @Test
  void theDefaultQueueIsTakenWhereThereIsOne() {
    BatchJobWebhook withDefault = rules(new Reviews.Cluster(true, false, false, Map.of()));
    assertThat(Reviews.patch(withDefault.mutate(create(PLAIN))))
        .containsExactly(QUEUE_LABEL, SUSPEND);

    JsonNode bare = edited(PLAIN, set("/metadata/labels", "null"));
    assertThat(Reviews.patch(withDefault.mutate(create(bare))))
        .containsExactly(
            "{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{}}", QUEUE_LABEL, SUSPEND);
  }

  @Test
  void theDefaultQueueIsNotTakenInAnUnmanagedNamespace() {
    BatchJobWebhook elsewhere =
        rules(new Reviews.Cluster(true, false, false, Map.of("managed", "no")));
    assertThat(Reviews.patch(elsewhere.mutate(create(PLAIN)))).isEmpty();
    assertThat(Reviews.patch(elsewhere.mutate(create(QUEUED))))
        .as("nobody would ever start it again")
        .isEmpty();
  }

  @Test
  void theDefaultPriorityClassIsTakenWithItsGate() {
    Reviews.Cluster cluster = new Reviews.Cluster(false, true, false, Map.of());
    assertThat(Reviews.patch(rules(cluster).mutate(create(QUEUED))))
        .containsExactly(PRIORITY_LABEL, SUSPEND);
    assertThat(
            Reviews.patch(
                rules(cluster, "-WorkloadPriorityClassDefaulting").mutate(create(QUEUED))))
        .containsExactly(SUSPEND);
    JsonNode own = edited(QUEUED, set("/metadata/labels/kueue.x-k8s.io~1priority-class", "high"));
    assertThat(Reviews.patch(rules(cluster).mutate(create(own)))).containsExactly(SUSPEND);
  }

  @Test
  void whatAManagedOwnerMakesIsLeftAlone() {
    JsonNode owned =
        edited(
            QUEUED,
            set(
                "/metadata/ownerReferences",
                "[{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: s, uid: u,"
                    + " controller: true}]"));
    assertThat(
            Reviews.patch(
                rules(new Reviews.Cluster(true, true, true, Map.of())).mutate(create(owned))))
        .isEmpty();
    assertThat(
            Reviews.patch(
                rules(new Reviews.Cluster(false, false, false, Map.of())).mutate(create(owned))))
        .containsExactly(SUSPEND);
  }

  @ParameterizedTest
  @CsvSource({
    "batch/v1, Job",
    "apps/v1, StatefulSet",
    "apps/v1, Deployment",
    "apps/v1, ReplicaSet",
    "v1, Pod"
  })
  void aManagedOwnerThatCreatesNoJobsChangesNothing(String apiVersion, String kind) {
    String owner =
        "[{apiVersion: %s, kind: %s, name: s, uid: u, controller: true}]"
            .formatted(apiVersion, kind);
    JsonNode owned = edited(QUEUED, set("/metadata/ownerReferences", owner));
    JsonNode withoutQueue = edited(PLAIN, set("/metadata/ownerReferences", owner));
    Reviews.Cluster cluster = new Reviews.Cluster(false, false, true, Map.of());

    assertThat(Reviews.patch(rules(cluster).mutate(create(owned)))).containsExactly(SUSPEND);
    assertThat(
            Reviews.patch(
                new BatchJobWebhook(settings(true), cluster).mutate(create(withoutQueue))))
        .containsExactly(SUSPEND);
  }

  @Test
  void aJobBelowAManagedJobIsAPartOfItWherePodsAreCounted() {
    JsonNode owned =
        edited(
            QUEUED,
            set(
                "/metadata/ownerReferences",
                "[{apiVersion: batch/v1, kind: Job, name: s, uid: u, controller: true}]"));
    WebhookSettings plain = settings(false);
    WebhookSettings counting =
        new WebhookSettings(
            false,
            plain.managedNamespaces(),
            plain.frameworks(),
            plain.gates(),
            plain.working(),
            true,
            List.of());
    Reviews.Cluster managed = new Reviews.Cluster(false, false, true, Map.of());
    Reviews.Cluster unmanaged = new Reviews.Cluster(false, false, false, Map.of());
    assertThat(Reviews.patch(new BatchJobWebhook(counting, managed).mutate(create(owned))))
        .isEmpty();
    assertThat(Reviews.patch(new BatchJobWebhook(plain, managed).mutate(create(owned))))
        .containsExactly(SUSPEND);
    assertThat(Reviews.patch(new BatchJobWebhook(counting, unmanaged).mutate(create(owned))))
        .containsExactly(SUSPEND);
  }

  @Test
  void jobsWithoutQueueAreSuspendedWhereThatIsAskedFor() {
    WebhookSettings all = settings(true);
    assertThat(Reviews.patch(new BatchJobWebhook(all, Reviews.Cluster.EMPTY).mutate(create(PLAIN))))
        .containsExactly(SUSPEND);
    assertThat(
            Reviews.patch(
                new BatchJobWebhook(
                        all, new Reviews.Cluster(false, false, false, Map.of("managed", "no")))
                    .mutate(create(PLAIN))))
        .isEmpty();
  }

  @Test
  void thePodsOfAnElasticJobAreGated() {
    JsonNode elastic =
        edited(SUSPENDED, set("/metadata/annotations", "{kueue.x-k8s.io/elastic-job: \"true\"}"));
    assertThat(Reviews.patch(rules.mutate(create(elastic))))
        .containsExactly(
            "{\"op\":\"add\",\"path\":\"/spec/template/spec/schedulingGates\","
                + "\"value\":[{\"name\":\"kueue.x-k8s.io/elastic-job\"}]}");
    BatchJobWebhook off = rules(Reviews.Cluster.EMPTY, "-ElasticJobsViaWorkloadSlices");
    assertThat(Reviews.patch(off.mutate(create(elastic)))).isEmpty();
  }

  // ---- creation

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          /metadata/labels | {kueue.x-k8s.io/queue-name: Not_A_Name} | metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain
          /metadata/annotations | {kueue.x-k8s.io/queue-name: Not_A_Name} | metadata.annotations[kueue.x-k8s.io/queue-name]: Invalid value: "Not_A_Name": a lowercase
          /metadata/labels | {kueue.x-k8s.io/prebuilt-workload-name: "-x"} | metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: "-x"
          /metadata/annotations | {kueue.x-k8s.io/prebuilt-workload-name: "A b"} | metadata.annotations[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: "A b"
          /metadata/labels | {kueue.x-k8s.io/max-exec-time-seconds: "0"} | metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: "0": must be an integer greater than 0
          /metadata/labels | {kueue.x-k8s.io/max-exec-time-seconds: "1h"} | metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: "1h"
          /metadata/labels | {kueue.x-k8s.io/max-exec-time-seconds: "2147483648"} | metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: "2147483648"
          /metadata/annotations | {kueue.x-k8s.io/admission-gated-by: "x"} | metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: "x": must be a domain-prefixed path
          /metadata/annotations | {sluice.dev/placement-region: "eu west"} | metadata.annotations[sluice.dev/placement-region]: Invalid value: "eu west": must be names of regions separated by commas
          /metadata/annotations | {sluice.dev/placement-region: "eu,"} | metadata.annotations[sluice.dev/placement-region]: Invalid value: "eu,": must be names of regions
          /metadata/annotations | {sluice.dev/expected-run-time: "soon"} | metadata.annotations[sluice.dev/expected-run-time]: Invalid value: "soon": must be a duration above 0 and of at most 87600h, such as 90m
          /metadata/annotations | {sluice.dev/expected-run-time: "0s"} | metadata.annotations[sluice.dev/expected-run-time]: Invalid value: "0s": must be a duration above 0
          /metadata/annotations | {sluice.dev/checkpointed-at: "yesterday"} | metadata.annotations[sluice.dev/checkpointed-at]: Invalid value: "yesterday": must be a time from 1970 to 9999, such as 2026-03-01T10:30:00Z
          /metadata/annotations | {sluice.dev/checkpointed-at: "+123456-01-01T00:00:00Z"} | metadata.annotations[sluice.dev/checkpointed-at]: Invalid value: "+123456-01-01T00:00:00Z": must be a time from 1970 to 9999
          /metadata/annotations | {sluice.dev/placement-cluster-selector: "tier in gpu"} | metadata.annotations[sluice.dev/placement-cluster-selector]: Invalid value: "tier in gpu": must be requirements separated by commas, each key=value
          /metadata/annotations | {kueue.x-k8s.io/job-min-parallelism: "0"} | metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: "0": must be an integer greater than 0 and less than the pods count, 4
          /metadata/annotations | {kueue.x-k8s.io/job-min-parallelism: "4"} | metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: "4"
          /metadata/annotations | {kueue.x-k8s.io/job-min-parallelism: "x"} | metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: "x"
          /metadata/annotations | {kueue.x-k8s.io/job-min-parallelism: "2", kueue.x-k8s.io/elastic-job: "true"} | metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: "2": must not be given together
          /metadata/annotations | {kueue.x-k8s.io/job-completions-equal-parallelism: "yes"} | metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]: Invalid value: "yes": must be a boolean
          /metadata/annotations | {kueue.x-k8s.io/job-completions-equal-parallelism: "true"} | metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]: Invalid value: "true": must not be true unless spec.completionMode is Indexed
          /metadata/annotations | {kueue.x-k8s.io/job-completions-equal-parallelism: "True"} | metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]: Invalid value: "True": must not be true unless spec.completionMode is Indexed
          /metadata/annotations | {kueue.x-k8s.io/job-completions-equal-parallelism: "true"} | spec.completions: Invalid value: 10: must be equal to parallelism, 4
          """)
  void refused(String pointer, String value, String message) {
    assertThat(messages(rules::validate, create(edited(PLAIN, set(pointer, value)))))
        .anySatisfy(found -> assertThat(found).startsWith(message));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          required-topology: rack, K/podset-preferred-topology: rack | spec.template.metadata.annotations: Invalid value: "kueue.x-k8s.io/podset-required-topology, kueue.x-k8s.io/podset-preferred-topology": must not contain more than one topology annotation
          required-topology: "a b" | spec.template.metadata.annotations[kueue.x-k8s.io/podset-required-topology]: Invalid value: "a b": name part
          preferred-topology: "a b" | spec.template.metadata.annotations[kueue.x-k8s.io/podset-preferred-topology]: Invalid value: "a b": name part
          unconstrained-topology: "maybe" | spec.template.metadata.annotations[kueue.x-k8s.io/podset-unconstrained-topology]: Invalid value: "maybe": must be a boolean
          slice-required-topology: rack | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-size]: Required value
          slice-size: "2" | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-size]: Forbidden
          slice-required-topology: rack, K/podset-slice-size: "0" | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-size]: Invalid value: "0": must be an integer greater than or equal to 1
          slice-required-topology: rack, K/podset-slice-size: "5" | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-size]: Invalid value: "5": must not be greater than the pod set's count, 4
          slice-required-topology: "a b", K/podset-slice-size: "2" | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-required-topology]: Invalid value: "a b"
          group-name: "7", K/podset-required-topology: rack | spec.template.metadata.annotations[kueue.x-k8s.io/podset-group-name]: Invalid value: "7": must not be a number
          group-name: g | spec.template.metadata.annotations[kueue.x-k8s.io/podset-group-name]: Forbidden: "g" may not be set when neither
          group-name: g, K/podset-required-topology: rack | spec.template.metadata.annotations[kueue.x-k8s.io/podset-group-name]: Invalid value: "g": can only define groups of exactly 2 pod sets, got 1
          slice-required-topology-constraints: "{" | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-required-topology-constraints]: Invalid value: "{": must be a JSON array
          slice-required-topology-constraints: "[]" | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-required-topology-constraints]: Invalid value: "[]": must be a JSON array of 1 to 3
          slice-required-topology-constraints: '[{"topology":"a","size":4},{"topology":"a","size":2}]' | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-required-topology-constraints][1].topology: Duplicate value: "a"
          slice-required-topology-constraints: '[{"topology":"a b","size":4}]' | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-required-topology-constraints][0].topology: Invalid value: "a b"
          slice-required-topology-constraints: '[{"topology":"a","size":0}]' | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-required-topology-constraints][0].size: Invalid value
          slice-required-topology-constraints: '[{"topology":"a","size":5}]' | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-required-topology-constraints][0].size: Invalid value: 5: must not be greater than the pod set's count, 4
          slice-required-topology-constraints: '[{"topology":"a","size":4},{"topology":"b","size":3}]' | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-required-topology-constraints][1].size: Invalid value: 3: must divide the size before it, 4
          slice-required-topology-constraints: '[{"topology":"a","size":4}]', K/podset-slice-size: "1" | spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-required-topology-constraints]: Forbidden: may not be set together
          """)
  void topologyRefused(String annotations, String message) {
    JsonNode job =
        edited(
            PLAIN,
            set(
                "/spec/template/metadata/annotations",
                ("{K/podset-" + annotations + "}").replace("K/", "kueue.x-k8s.io/")));

    assertThat(messages(rules::validate, create(job)))
        .anySatisfy(found -> assertThat(found).startsWith(message));
    assertThat(
            messages(
                rules(Reviews.Cluster.EMPTY, "-TopologyAwareScheduling")::validate, create(job)))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          required-topology: example.com/rack
          preferred-topology: kubernetes.io/hostname
          unconstrained-topology: "true"
          required-topology: rack, K/podset-slice-required-topology: host, K/podset-slice-size: "2"
          slice-required-topology-constraints: '[{"topology":"a","size":4},{"topology":"b","size":2}]'
          """)
  void topologyAllowed(String annotations) {
    JsonNode job =
        edited(
            PLAIN,
            set(
                "/spec/template/metadata/annotations",
                ("{K/podset-" + annotations + "}").replace("K/", "kueue.x-k8s.io/")));
    assertThat(messages(rules::validate, create(job))).isEmpty();
  }

  /** Changes of 0.20, section 4, TASTopologySpreading. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          {rules: | : Invalid value: "{rules:": must be a JSON object {workloadLabelSelectors, rules}
          {"rules": []} | .rules: Invalid value: "[]": must be an array of 1 to 2 objects
          {"rules": [{"topologyKey": "a b", "maxShareAllowingPlacement": "45%"}]} | .rules[0].topologyKey: Invalid value: "a b": must be
          {"rules": [{"topologyKey": "rack", "maxShareAllowingPlacement": "100%"}]} | .rules[0].maxShareAllowingPlacement: Invalid value: "100%": must be a text from "1%" to "99%"
          """)
  void spreadingIsCheckedWithItsGateOnly(String annotation, String fault) {
    JsonNode job = edited(PLAIN, set("/spec/template/metadata/annotations", "{}"));
    ((ObjectNode) job.at("/spec/template/metadata/annotations"))
        .put("kueue.x-k8s.io/podset-topology-spreading", annotation);
    assertThat(
            messages(rules(Reviews.Cluster.EMPTY, "TASTopologySpreading")::validate, create(job)))
        .singleElement()
        .asString()
        .startsWith(
            "spec.template.metadata.annotations[kueue.x-k8s.io/podset-topology-spreading]" + fault);
    assertThat(messages(rules::validate, create(job))).isEmpty();
  }

  @Test
  void layersNeedTheirGate() {
    JsonNode job =
        edited(
            PLAIN,
            set(
                "/spec/template/metadata/annotations",
                "{kueue.x-k8s.io/podset-slice-required-topology-constraints: '[]'}"));
    assertThat(
            messages(rules(Reviews.Cluster.EMPTY, "-TASMultiLayerTopology")::validate, create(job)))
        .singleElement()
        .asString()
        .contains("Forbidden: feature gate TASMultiLayerTopology is off");
  }

  /** Changes of 0.20, section 4, TASRejectFalseUnconstrainedTopology. */
  @Test
  void unconstrainedTopologyThatIsFalseIsRefusedByItsGate() {
    JsonNode job =
        edited(
            PLAIN,
            set(
                "/spec/template/metadata/annotations",
                "{kueue.x-k8s.io/podset-unconstrained-topology: 'false'}"));
    assertThat(messages(rules(Reviews.Cluster.EMPTY)::validate, create(job))).isEmpty();
    assertThat(
            messages(
                rules(Reviews.Cluster.EMPTY, "TASRejectFalseUnconstrainedTopology")::validate,
                create(job)))
        .singleElement()
        .asString()
        .isEqualTo(
            "spec.template.metadata.annotations[kueue.x-k8s.io/podset-unconstrained-topology]:"
                + " Invalid value: \"false\": must be true; a pod set that asks for no topology"
                + " doesn't have the annotation");
  }

  /** Changes of 0.20, section 4: a group of pod sets may have slices where the gate is on. */
  @Test
  void slicesOfAGroupNeedTheirGate() {
    JsonNode job =
        edited(
            PLAIN,
            set(
                "/spec/template/metadata/annotations",
                "{kueue.x-k8s.io/podset-group-name: g, kueue.x-k8s.io/podset-required-topology: r,"
                    + " kueue.x-k8s.io/podset-slice-required-topology: h,"
                    + " kueue.x-k8s.io/podset-slice-size: '2'}"));
    String slices =
        "Forbidden: may not be set with kueue.x-k8s.io/podset-group-name, feature gate"
            + " TASGroupedPodSetSlicing is off";
    assertThat(
            messages(
                rules(Reviews.Cluster.EMPTY, "-TASGroupedPodSetSlicing")::validate, create(job)))
        .filteredOn(message -> message.contains(slices))
        .hasSize(2);
    // what is left: a Job has one pod set, which is no group
    assertThat(
            messages(
                rules(Reviews.Cluster.EMPTY, "TASGroupedPodSetSlicing")::validate, create(job)))
        .singleElement()
        .asString()
        .contains("can only define groups of exactly 2 pod sets");
  }

  @Test
  void anElasticJobTakesNoLevel() {
    JsonNode job =
        edited(
            PLAIN,
            set("/metadata/annotations", "{kueue.x-k8s.io/elastic-job: \"true\"}"),
            set(
                "/spec/template/metadata/annotations",
                "{kueue.x-k8s.io/podset-required-topology: rack}"));
    assertThat(messages(rules::validate, create(job)))
        .containsExactly(
            "spec.template.metadata.annotations[kueue.x-k8s.io/podset-required-topology]:"
                + " Forbidden: may not be set for an elastic job");
  }

  @Test
  void partialStartIsAllowedWhereItMakesSense() {
    JsonNode job =
        edited(
            PLAIN,
            set(
                "/metadata/annotations",
                "{kueue.x-k8s.io/job-min-parallelism: \"3\","
                    + " kueue.x-k8s.io/job-completions-equal-parallelism: \"true\"}"),
            set("/spec/completions", "4"),
            set("/spec/completionMode", "Indexed"));
    assertThat(messages(rules::validate, create(job))).isEmpty();
  }

  @Test
  void allThatIsWrongIsSaidAtOnce() {
    JsonNode job =
        edited(
            PLAIN,
            set(
                "/metadata/labels",
                "{kueue.x-k8s.io/queue-name: A, kueue.x-k8s.io/max-exec-time-seconds: x}"),
            set("/metadata/annotations", "{kueue.x-k8s.io/job-min-parallelism: x}"));
    assertThat(messages(rules::validate, create(job))).hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "kueue.x-k8s.io/queuename",
        "kueue.x-k8s.io/queue_name",
        "kueue.x-k8s.io/Queue-Name",
        "kueue.x-k8s.io/queue",
        "queue-name"
      })
  void aLabelThatOnlyLooksLikeTheQueuesIsSaid(String label) {
    JsonNode job = edited(PLAIN, set("/metadata/labels", "{" + label + ": lq}"));

    assertThat(warnings(rules.validate(create(job))))
        .containsExactly(
            "label "
                + label
                + " names no queue, the job is not queued: the label is kueue.x-k8s.io/queue-name");
    assertThat(
            warnings(
                rules.validate(
                    create(
                        edited(
                            job,
                            set(
                                "/metadata/labels",
                                "{kueue.x-k8s.io/queue-name: lq, " + label + ": lq}"))))))
        .isEmpty();
  }

  @Test
  void whatHasNoEffectIsSaid() {
    JsonNode job =
        edited(
            PLAIN,
            set(
                "/metadata/annotations",
                "{kueue.x-k8s.io/elastic-job: \"true\", kueue.x-k8s.io/admission-gated-by: a.b/c}"),
            set(
                "/spec/template/metadata/annotations",
                "{kueue.x-k8s.io/podset-unconstrained-topology: \"true\"}"));
    WebhookSettings all = settings();
    WebhookSettings none =
        new WebhookSettings(
            false, all.managedNamespaces(), all.frameworks(), all.gates(), Set.of());

    assertThat(warnings(new BatchJobWebhook(none, Reviews.Cluster.EMPTY).validate(create(job))))
        .containsExactly(
            "annotation kueue.x-k8s.io/admission-gated-by has no effect: feature AdmissionGatedBy"
                + " is off or not there",
            "annotation kueue.x-k8s.io/elastic-job has no effect: feature"
                + " ElasticJobsViaWorkloadSlices is off or not there",
            "annotation kueue.x-k8s.io/podset-unconstrained-topology has no effect: feature"
                + " TopologyAwareScheduling is off or not there");
    assertThat(warnings(rules.validate(create(job)))).isEmpty();
  }

  @Test
  void aWaitForACheaperFlavorThatNeverComesIsWarnedAbout() {
    EmptyCluster listed =
        new EmptyCluster() {
          @Override
          public Optional<String> noWaitForCheaper(
              String namespace, String queue, Map<String, String> labels) {
            return Optional.of("queue " + namespace + "/" + queue + " is another")
                .filter(any -> !labels.containsKey("cheap"));
          }
        };
    BatchJobWebhook webhook = new BatchJobWebhook(settings(), listed);
    String delay = "/metadata/annotations/sluice.dev~1max-delay-for-cheaper";
    JsonNode waits = edited(SUSPENDED, set(delay, "2h"));
    String noEffect = "annotation sluice.dev/max-delay-for-cheaper has no effect: ";

    assertThat(warnings(webhook.validate(create(waits))))
        .containsExactly(noEffect + "queue team/training is another");
    assertThat(
            warnings(webhook.validate(create(edited(waits, set("/metadata/labels/cheap", "a"))))))
        .isEmpty();
    assertThat(warnings(webhook.validate(create(edited(waits, set(delay, "0s")))))).isEmpty();
    assertThat(
            warnings(
                rules.validate(
                    create(
                        edited(
                            waits,
                            set("/spec/parallelism", "3"),
                            set(
                                "/metadata/annotations/kueue.x-k8s.io~1job-min-parallelism",
                                "\"2\""))))))
        .containsExactly(
            noEffect
                + "with annotation kueue.x-k8s.io/job-min-parallelism it starts with fewer pods"
                + " instead");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {sluice.dev/flavor-order: Cheapest} | BestEffortFIFO | ''
          {} | BestEffortFIFO | ClusterQueue cq has no sluice.dev/flavor-order: Cheapest
          {sluice.dev/flavor-order: Cheapest} | StrictFIFO | ClusterQueue cq is not of the queueing strategy BestEffortFIFO
          {sluice.dev/flavor-order: Cheapest, sluice.dev/queueing-strategy: RoundRobin} | BestEffortFIFO | ClusterQueue cq is not of the queueing strategy BestEffortFIFO
          {sluice.dev/flavor-order: Cheapest, sluice.dev/preemptible-labels: "true"} | BestEffortFIFO | in ClusterQueue cq its labels say that it may not be preempted
          """)
  void aQueueSaysWhyNobodyWaitsForACheaperFlavor(String annotations, String strategy, String reason)
      throws JsonProcessingException {
    ClusterQueue queue =
        new YAMLMapper()
            .readValue(
                "{metadata: {name: cq, annotations: %s}, spec: {queueingStrategy: %s}}"
                    .formatted(annotations, strategy),
                ClusterQueue.class);
    assertThat(
            CachedClusterLookup.noWaitForCheaper(
                    queue, Map.of("alibabacloud.com/preemptible", "false"))
                .orElse(""))
        .isEqualTo(reason);
  }

  @Test
  void aPriorityClassThatDoesNotExistIsWarnedAboutInAQueue() {
    BatchJobWebhook webhook = new BatchJobWebhook(settings(), new Sending());
    String labels = "{kueue.x-k8s.io/queue-name: training, kueue.x-k8s.io/priority-class: %s}";
    assertThat(
            warnings(
                webhook.validate(
                    create(
                        edited(SUSPENDED, set("/metadata/labels", labels.formatted("urgent")))))))
        .containsExactly(
            "there is no WorkloadPriorityClass urgent yet, so the job waits until there is one;"
                + " there are: high, low");
    assertThat(
            warnings(
                webhook.validate(
                    create(edited(SUSPENDED, set("/metadata/labels", labels.formatted("low")))))))
        .isEmpty();
  }

  @Test
  void aQueueThatDoesNotExistOrIsNamedTwiceIsWarnedAbout() {
    BatchJobWebhook webhook = new BatchJobWebhook(settings(), new Sending());
    assertThat(warnings(webhook.validate(create(SUSPENDED)))).isEmpty();
    assertThat(
            warnings(
                webhook.validate(
                    create(
                        edited(
                            SUSPENDED,
                            set("/metadata/labels", "{kueue.x-k8s.io/queue-name: trainig}"))))))
        .containsExactly(
            "namespace team has no LocalQueue trainig yet, so the job waits until there is one;"
                + " it has: here, training");
    assertThat(
            warnings(
                webhook.validate(
                    create(
                        edited(
                            SUSPENDED,
                            set("/metadata/annotations", "{kueue.x-k8s.io/queue-name: here}"))))))
        .containsExactly(
            "the label kueue.x-k8s.io/queue-name names queue training, the annotation names here:"
                + " the label counts");
  }

  private static List<String> warnings(AdmissionResult admissionResult) {
    return switch (admissionResult) {
      case AdmissionResult.Allowed allowed -> allowed.warnings();
      case AdmissionResult.Rejected rejected -> throw new AssertionError(rejected);
    };
  }

  // ---- update

  @Test
  void theQueueMayChangeOnlyWhileSuspended() {
    String pointer = "/metadata/labels/kueue.x-k8s.io~1queue-name";
    assertThat(messages(rules::validate, update(RUNNING, edited(RUNNING, set(pointer, "b")))))
        .containsExactly(
            "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"b\": field is immutable"
                + " while the job runs");
    assertThat(messages(rules::validate, update(SUSPENDED, edited(SUSPENDED, set(pointer, "b")))))
        .isEmpty();
    assertThat(
            messages(rules::validate, update(SUSPENDED, edited(SUSPENDED, set(pointer, "null")))))
        .isEmpty();
    assertThat(
            messages(
                rules(new Reviews.Cluster(true, false, false, Map.of()))::validate,
                update(SUSPENDED, edited(SUSPENDED, set(pointer, "null")))))
        .containsExactly(
            "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"\": must not be emptied"
                + " in a namespace that has a LocalQueue \"default\"");
  }

  @Test
  void movingTheQueueNameFromAnnotationToLabelIsNoChange() {
    JsonNode annotated =
        edited(
            RUNNING,
            set("/metadata/labels", "{}"),
            set("/metadata/annotations", "{kueue.x-k8s.io/queue-name: training}"));
    assertThat(messages(rules::validate, update(annotated, RUNNING))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          labels/kueue.x-k8s.io~1prebuilt-workload-name | w | metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: "w": field is immutable while the job runs
          labels/kueue.x-k8s.io~1max-exec-time-seconds | "9" | metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: "9": field is immutable unless the job is suspended
          labels/kueue.x-k8s.io~1priority-class | high | metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: "high": must not be added while the job runs
          annotations/sluice.dev~1placement-region | eu | metadata.annotations[sluice.dev/placement-region]: Invalid value: "eu": field is immutable unless the job is suspended
          annotations/sluice.dev~1placement-cluster-selector | tier=gpu | metadata.annotations[sluice.dev/placement-cluster-selector]: Invalid value: "tier=gpu": field is immutable unless the job is suspended
          annotations/kueue.x-k8s.io~1job-completions-equal-parallelism | "false" | metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]: Invalid value: "false": field is immutable while the job runs
          """)
  void whatMayNotChangeWhileItRuns(String pointer, String value, String message) {
    assertThat(
            messages(
                rules::validate,
                update(RUNNING, edited(RUNNING, set("/metadata/" + pointer, value)))))
        .containsExactly(message);
    assertThat(
            messages(
                rules::validate,
                update(SUSPENDED, edited(SUSPENDED, set("/metadata/" + pointer, value)))))
        .isEmpty();
  }

  @Test
  void thePriorityClassMayChangeButNeverGo() {
    String pointer = "/metadata/labels/kueue.x-k8s.io~1priority-class";
    JsonNode high = edited(RUNNING, set(pointer, "high"));
    assertThat(messages(rules::validate, update(high, edited(high, set(pointer, "low")))))
        .isEmpty();
    assertThat(messages(rules::validate, update(high, RUNNING)))
        .containsExactly(
            "metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: \"\": must not be"
                + " removed, it was \"high\"");
    JsonNode suspended = edited(SUSPENDED, set(pointer, "high"));
    assertThat(messages(rules::validate, update(suspended, SUSPENDED))).hasSize(1);
  }

  @Test
  void elasticityStaysWhatItIs() {
    JsonNode elastic =
        edited(SUSPENDED, set("/metadata/annotations", "{kueue.x-k8s.io/elastic-job: \"true\"}"));
    assertThat(messages(rules::validate, update(SUSPENDED, elastic)))
        .containsExactly(
            "metadata.annotations[kueue.x-k8s.io/elastic-job]: Invalid value: \"true\": field is"
                + " immutable");
    assertThat(messages(rules::validate, update(elastic, SUSPENDED))).hasSize(1);
  }

  @Test
  void parallelismStaysWhileAPartialJobRunsAndIsSetByTheStart() {
    JsonNode suspended =
        edited(
            SUSPENDED, set("/metadata/annotations", "{kueue.x-k8s.io/job-min-parallelism: \"1\"}"));
    JsonNode started =
        edited(suspended, set("/spec/suspend", "false"), set("/spec/parallelism", "2"));
    assertThat(messages(rules::validate, update(suspended, started))).isEmpty();
    assertThat(
            messages(
                rules::validate, update(started, edited(started, set("/spec/parallelism", "3")))))
        .singleElement()
        .asString()
        .startsWith("spec.parallelism: Invalid value: 3: field is immutable");
    assertThat(messages(rules::validate, update(started, suspended))).isEmpty();
  }

  @Test
  void aPartialJobMayRunWithItsMinimumAndStopAgain() {
    JsonNode suspended =
        edited(
            SUSPENDED, set("/metadata/annotations", "{kueue.x-k8s.io/job-min-parallelism: \"2\"}"));
    JsonNode started =
        edited(suspended, set("/spec/suspend", "false"), set("/spec/parallelism", "2"));
    JsonNode stopping = edited(started, set("/spec/suspend", "true"));

    assertThat(messages(rules::validate, update(suspended, started))).isEmpty();
    assertThat(messages(rules::validate, update(started, stopping))).isEmpty();
    assertThat(messages(rules::validate, update(stopping, suspended))).isEmpty();
  }

  @Test
  void theMinimumIsJudgedWhenItChangesAndNotWhenTheJobRestartsWithFewerPods() {
    JsonNode suspended =
        edited(
            SUSPENDED, set("/metadata/annotations", "{kueue.x-k8s.io/job-min-parallelism: \"3\"}"));
    JsonNode reclaimed =
        edited(suspended, set("/spec/suspend", "false"), set("/spec/parallelism", "1"));

    assertThat(messages(rules::validate, update(suspended, reclaimed))).isEmpty();
    assertThat(messages(rules::validate, update(reclaimed, suspended))).isEmpty();
    assertThat(
            messages(
                rules::validate,
                update(
                    reclaimed,
                    edited(
                        reclaimed,
                        set(
                            "/metadata/annotations",
                            "{kueue.x-k8s.io/job-min-parallelism: \"2\"}")))))
        .singleElement()
        .asString()
        .contains("less than the pods count, 1");
  }

  @Test
  void whatWasWrongBeforeDoesntMakeTheJobUnchangeable() {
    JsonNode wrong =
        edited(RUNNING, set("/metadata/labels/kueue.x-k8s.io~1max-exec-time-seconds", "x"));
    JsonNode other = edited(wrong, set("/metadata/labels/app", "a"));
    assertThat(messages(rules::validate, update(wrong, other))).isEmpty();
  }

  @Test
  void whatIsOfAnotherTypeNeverThrows() {
    for (String field : List.of("spec", "metadata", "metadata/ownerReferences")) {
      for (String junk : List.of("5", "[]", "text", "[1]", "{labels: [], template: 7}")) {
        JsonNode object = edited(PLAIN, set("/" + field, junk));
        assertThat(rules.mutate(create(object))).isNotNull();
        assertThat(rules.validate(create(object))).isNotNull();
        assertThat(rules.validate(update(RUNNING, object))).isNotNull();
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          {K/was-podgroup: "yes"} | metadata.annotations[kueue.x-k8s.io/was-podgroup]: Unsupported value: "yes"
          {K/was-podgroup: "true", K/elastic-job: "true"} | metadata.annotations[kueue.x-k8s.io/was-podgroup]: Forbidden: may not be set for an elastic job
          """)
  void aWishForPodGroupsIsReviewedWhereTheGateIsOn(String annotations, String message) {
    JsonNode asking =
        edited(PLAIN, set("/metadata/annotations", annotations.replace("K/", "kueue.x-k8s.io/")));
    assertThat(messages(rules(Reviews.Cluster.EMPTY, "WASPodGroups")::validate, create(asking)))
        .singleElement()
        .satisfies(found -> assertThat(found).startsWith(message));
    assertThat(messages(rules::validate, create(asking))).isEmpty();
  }
}
