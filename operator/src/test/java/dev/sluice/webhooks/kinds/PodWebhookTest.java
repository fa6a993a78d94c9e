package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.messages;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.settings;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.rules.WebhookSettings;
import dev.sluice.workload.record.PodRoleHash;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PodWebhookTest {

  private static final JsonNode PLAIN =
      yaml(
          """
          kind: Pod
          metadata: {name: a, namespace: team, labels: {}, annotations: {}}
          spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
          """);
  private static final JsonNode QUEUED =
      edited(PLAIN, set("/metadata/labels", "{kueue.x-k8s.io/queue-name: training}"));
  private static final JsonNode OWNED =
      edited(
          QUEUED,
          set(
              "/metadata/ownerReferences",
              "[{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}]"));
  private static final JsonNode OF_ITS_JOB =
      edited(OWNED, set("/metadata/labels/batch.kubernetes.io~1controller-uid", "u"));
  private static final JsonNode MANAGED =
      edited(QUEUED, set("/metadata/labels/kueue.x-k8s.io~1managed", "\"true\""));
  private static final JsonNode GATED =
      edited(MANAGED, set("/spec/schedulingGates", "[{name: kueue.x-k8s.io/admission}]"));
  private static final JsonNode GROUPED =
      edited(
          GATED,
          set(
              "/metadata/annotations",
              "{kueue.x-k8s.io/pod-group-name: g, kueue.x-k8s.io/pod-group-total-count: \"2\"}"));

  private static final String LABEL =
      "{\"op\":\"add\",\"path\":\"/metadata/labels/kueue.x-k8s.io~1managed\",\"value\":\"true\"}";
  private static final String FINALIZER =
      "{\"op\":\"add\",\"path\":\"/metadata/finalizers\",\"value\":[\"kueue.x-k8s.io/managed\"]}";
  private static final String GATES =
      "{\"op\":\"add\",\"path\":\"/spec/schedulingGates\","
          + "\"value\":[{\"name\":\"kueue.x-k8s.io/admission\"}]}";
  private static final String TOPOLOGY_GATE =
      "{\"op\":\"add\",\"path\":\"/spec/schedulingGates/-\","
          + "\"value\":{\"name\":\"kueue.x-k8s.io/topology\"}}";
  private static final String ROLE =
      "{\"op\":\"add\",\"path\":\"/metadata/annotations/kueue.x-k8s.io~1role-hash\",\"value\":\""
          + PodRoleHash.of(PLAIN.path("spec")).roleHash()
          + "\"}";

  private static PodWebhook rules(Reviews.Cluster cluster, String... gates) {
    return new PodWebhook(settings(gates), cluster);
  }

  private static PodWebhook rules(String... frameworks) {
    WebhookSettings all = settings();
    return new PodWebhook(
        new WebhookSettings(
            false, all.managedNamespaces(), Set.of(frameworks), all.gates(), Set.of()),
        new Reviews.Cluster(true, false, false, Map.of()));
  }

  private final PodWebhook rules = rules(Reviews.Cluster.EMPTY);

  // ---- what is filled in

  @Test
  void aPodWithAQueueIsMarkedAndHeldBack() {
    assertThat(Reviews.patch(rules.mutate(create(QUEUED))))
        .containsExactly(LABEL, FINALIZER, GATES, TOPOLOGY_GATE, ROLE);
    assertThat(
            Reviews.patch(
                rules(Reviews.Cluster.EMPTY, "-TopologyAwareScheduling").mutate(create(QUEUED))))
        .containsExactly(LABEL, FINALIZER, GATES, ROLE);
  }

  @Test
  void aPodWithoutQueueAnUpdateAndAPodOfAManagedJobAreLeftAlone() {
    assertThat(Reviews.patch(rules.mutate(create(PLAIN)))).isEmpty();
    assertThat(Reviews.patch(rules.mutate(update(QUEUED, QUEUED)))).isEmpty();
    assertThat(
            Reviews.patch(
                rules(new Reviews.Cluster(true, true, true, Map.of())).mutate(create(OF_ITS_JOB))))
        .isEmpty();
    assertThat(Reviews.patch(rules.mutate(create(OWNED))))
        .as("an owner that nobody manages changes nothing")
        .contains(LABEL, GATES);
  }

  @Test
  void aPodThatNamesAManagedOwnerWhichDidNotCreateItIsHeldBack() {
    PodWebhook ofManaged = rules(new Reviews.Cluster(true, true, true, Map.of()));
    JsonNode ofStatefulSet =
        edited(
            QUEUED,
            set(
                "/metadata/ownerReferences",
                "[{apiVersion: apps/v1, kind: StatefulSet, name: s, uid: u, controller: true}]"));

    assertThat(Reviews.patch(ofManaged.mutate(create(OWNED)))).contains(LABEL, GATES);
    assertThat(Reviews.patch(ofManaged.mutate(create(ofStatefulSet)))).contains(LABEL, GATES);
    for (String controller :
        List.of(
            "system:kube-controller-manager", "system:serviceaccount:kube-system:job-controller")) {
      assertThat(Reviews.patch(ofManaged.mutate(create(OWNED, controller)))).isEmpty();
      assertThat(Reviews.patch(ofManaged.mutate(create(ofStatefulSet, controller)))).isEmpty();
    }
  }

  @Test
  void aPodThatNamesAManagedPodAsItsControllerIsHeldBack() {
    PodWebhook ofManaged = rules(new Reviews.Cluster(true, true, true, Map.of()));
    JsonNode ofPod =
        edited(
            QUEUED,
            set(
                "/metadata/ownerReferences",
                "[{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]"));

    assertThat(Reviews.patch(ofManaged.mutate(create(ofPod)))).contains(LABEL, GATES);
  }

  /** A driver creates its executors with a service account of its namespace. */
  @Test
  void anExecutorThatNoPodCanHaveCreatedIsHeldBack() {
    PodWebhook ofManaged = rules(new Reviews.Cluster(true, true, true, Map.of()));
    JsonNode executor =
        edited(
            QUEUED,
            set("/metadata/labels/spark-role", "executor"),
            set("/metadata/labels/sparkoperator.k8s.io~1app-name", "pi"),
            set(
                "/metadata/ownerReferences",
                "[{apiVersion: v1, kind: Pod, name: pi-driver, uid: u, controller: true}]"));
    String namespace = executor.at("/metadata/namespace").asText();

    for (String user : List.of("tenant", "system:serviceaccount:other:default")) {
      assertThat(Reviews.patch(ofManaged.mutate(create(executor, user)))).contains(LABEL, GATES);
    }
    assertThat(
            Reviews.patch(
                ofManaged.mutate(
                    create(executor, "system:serviceaccount:" + namespace + ":default"))))
        .isEmpty();
  }

  @Test
  void inAnUnmanagedNamespaceNothingIsDone() {
    PodWebhook elsewhere = rules(new Reviews.Cluster(true, true, false, Map.of("managed", "no")));

    assertThat(Reviews.patch(elsewhere.mutate(create(QUEUED)))).isEmpty();
    assertThat(Reviews.patch(elsewhere.mutate(create(PLAIN)))).isEmpty();
  }

  @Test
  void theDefaultQueueAndPriorityClassAreTakenWhereThereAreSuch() {
    PodWebhook withDefaults = rules(new Reviews.Cluster(true, true, false, Map.of()));

    assertThat(Reviews.patch(withDefaults.mutate(create(PLAIN))))
        .containsExactly(
            "{\"op\":\"add\",\"path\":\"/metadata/labels/kueue.x-k8s.io~1queue-name\","
                + "\"value\":\"default\"}",
            "{\"op\":\"add\",\"path\":\"/metadata/labels/kueue.x-k8s.io~1priority-class\","
                + "\"value\":\"default\"}",
            LABEL,
            FINALIZER,
            GATES,
            TOPOLOGY_GATE,
            ROLE);
  }

  @Test
  void whereJobsWithoutQueueAreManagedPodsAreToo() {
    PodWebhook all = new PodWebhook(settings(true), Reviews.Cluster.EMPTY);

    assertThat(Reviews.patch(all.mutate(create(PLAIN)))).contains(LABEL, FINALIZER, GATES);
  }

  @ParameterizedTest
  @ValueSource(strings = {"statefulset", "deployment"})
  void aPodOfAParentThatSuspendsIsHeldBackWhateverElseItIs(String parent) {
    JsonNode child =
        edited(
            OWNED,
            set("/metadata/labels", "{}"),
            set("/metadata/annotations", "{kueue.x-k8s.io/pod-suspending-parent: " + parent + "}"));
    PodWebhook unmanaged = rules(new Reviews.Cluster(true, true, true, Map.of("managed", "no")));

    assertThat(Reviews.patch(unmanaged.mutate(create(child))))
        .containsExactly(GATES, TOPOLOGY_GATE, ROLE);
  }

  @Test
  void whereOnlyTheParentsAreOnOnlyTheirPodsAreHeldBack() {
    JsonNode child =
        edited(
            PLAIN,
            set("/metadata/annotations", "{kueue.x-k8s.io/pod-suspending-parent: statefulset}"));

    assertThat(Reviews.patch(rules("statefulset").mutate(create(child))))
        .containsExactly(GATES, ROLE);
    assertThat(Reviews.patch(rules("statefulset").mutate(create(QUEUED)))).isEmpty();
    WebhookKind pods =
        WebhookKind.all().stream().filter(WebhookKind::isPod).findFirst().orElseThrow();
    assertThat(pods.isEnabledBy(Set.of("batch/job"))).isFalse();
    assertThat(pods.isEnabledBy(Set.of("batch/job", "deployment"))).isTrue();
  }

  @Test
  void whatIsThereAlreadyIsKept() {
    JsonNode prepared =
        edited(
            QUEUED,
            set("/metadata/annotations", "{kueue.x-k8s.io/role-hash: workers}"),
            set("/spec/schedulingGates", "[{name: other}, {name: kueue.x-k8s.io/admission}]"));

    assertThat(Reviews.patch(rules.mutate(create(prepared))))
        .containsExactly(LABEL, FINALIZER, TOPOLOGY_GATE);
  }

  @Test
  void theRankIsCopiedFromTheLabelThatIsNamed() {
    JsonNode ranked =
        edited(
            QUEUED,
            set("/metadata/labels/rank", "\"3\""),
            set("/metadata/annotations", "{kueue.x-k8s.io/pod-group-pod-index-label: rank}"));

    assertThat(Reviews.patch(rules.mutate(create(ranked))))
        .contains(
            "{\"op\":\"add\",\"path\":\"/metadata/labels/kueue.x-k8s.io~1pod-group-pod-index\","
                + "\"value\":\"3\"}");
  }

  /** docs/pods.md#groups: gate WaitForPodsReadyMaxNotReady (changes of 0.20, section 4). */
  @Test
  void theNumberOfPodsThatNeedNotBeReadyIsANumber() {
    JsonNode pod =
        edited(
            QUEUED,
            set(
                "/metadata/annotations",
                "{kueue.x-k8s.io/pod-group-name: g, kueue.x-k8s.io/pod-group-total-count: '2',"
                    + " kueue.x-k8s.io/pod-group-max-not-ready-count: '-1'}"));
    PodWebhook gated = rules(Reviews.Cluster.EMPTY, "WaitForPodsReadyMaxNotReady");

    assertThat(messages(gated::validate, create(pod)))
        .singleElement()
        .asString()
        .startsWith(
            "metadata.annotations[kueue.x-k8s.io/pod-group-max-not-ready-count]: Invalid value:"
                + " \"-1\": must be an integer greater than or equal to 0");
    assertThat(messages(rules::validate, create(pod))).isEmpty();
  }

  @Test
  void disabledPodsAreAllowedAsTheyAre() {
    WebhookSettings on = settings();
    Map<String, AdmissionFunction> functions =
        Webhooks.functions(
            new WebhookSettings(
                true, on.managedNamespaces(), Set.of("batch/job"), on.gates(), on.working()),
            Reviews.Cluster.EMPTY);
    JsonNode wrong = edited(QUEUED, set("/metadata/labels/kueue.x-k8s.io~1managed", "yes"));

    for (String kind : List.of("-v1-pod", "apps-v1-deployment", "apps-v1-statefulset")) {
      AdmissionFunction mutating =
          functions.getOrDefault(
              "/mutate-" + kind,
              request -> {
                throw new AssertionError(kind);
              });
      AdmissionFunction validating = functions.getOrDefault("/validate-" + kind, mutating);
      assertThat(Reviews.patch(mutating.review(create(QUEUED)))).isEmpty();
      assertThat(messages(validating.review(create(wrong)))).isEmpty();
    }
  }

  // ---- what is refused

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          /metadata/labels | {K/queue-name: Not_A_Name} | metadata.labels[K/queue-name]: Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain
          /metadata/labels | {K/managed: "yes"} | metadata.labels[K/managed]: Unsupported value: "yes": supported values: "true"
          /metadata/labels | {K/max-exec-time-seconds: "0"} | metadata.labels[K/max-exec-time-seconds]: Invalid value: "0": must be an integer greater than 0
          /metadata/annotations | {K/prebuilt-workload-name: "A b"} | metadata.annotations[K/prebuilt-workload-name]: Invalid value: "A b"
          /metadata/annotations | {K/admission-gated-by: x} | metadata.annotations[K/admission-gated-by]: Invalid value: "x": must be a domain-prefixed path
          /metadata/annotations | {K/elastic-job: "true"} | metadata.annotations[K/elastic-job]: Forbidden: only Job, RayCluster, RayJob and RayService can be elastic
          /metadata/annotations | {K/pod-group-name: "G g", K/pod-group-total-count: "2"} | metadata.annotations[K/pod-group-name]: Invalid value: "G g": a lowercase RFC 1123 subdomain
          /metadata/labels | {K/pod-group-name: "-"} | metadata.labels[K/pod-group-name]: Invalid value: "-": a lowercase RFC 1123 subdomain
          /metadata/labels | {K/pod-group-name: g} | metadata.annotations[K/pod-group-total-count]: Required value: must be set for a pod of group "g"
          /metadata/annotations | {K/pod-group-name: g} | metadata.annotations[K/pod-group-total-count]: Required value: must be set for a pod of group "g"
          /metadata/annotations | {K/pod-group-total-count: "2"} | metadata.annotations[K/pod-group-name]: Required value: must be set when annotation K/pod-group-total-count is, "2"
          /metadata/annotations | {K/pod-group-name: g, K/pod-group-total-count: "0"} | metadata.annotations[K/pod-group-total-count]: Invalid value: "0": must be an integer greater than or equal to 1
          /metadata/annotations | {K/pod-group-name: g, K/pod-group-total-count: many} | metadata.annotations[K/pod-group-total-count]: Invalid value: "many": must be an integer
          /metadata/annotations | {K/pod-group-name: g, K/pod-group-total-count: "2", K/prebuilt-workload-name: w} | metadata.annotations[K/prebuilt-workload-name]: Invalid value: "w": must be the same as the pod group's name, "g"
          """)
  void refused(String pointer, String value, String message) {
    JsonNode pod = edited(PLAIN, set(pointer, value.replace("K/", "kueue.x-k8s.io/")));

    assertThat(messages(rules::validate, create(pod)))
        .anySatisfy(
            found -> assertThat(found).startsWith(message.replace("K/", "kueue.x-k8s.io/")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          {K/podset-required-topology: rack, K/podset-preferred-topology: rack} | metadata.annotations: Invalid value: "K/podset-required-topology, K/podset-preferred-topology": must not contain more than one
          {K/podset-slice-required-topology: rack, K/podset-slice-size: "2"} | metadata.annotations[K/podset-slice-size]: Invalid value: "2": must not be greater than the pod set's count, 1
          {K/podset-slice-required-topology: rack, K/podset-slice-size: "3", K/pod-group-name: g, K/pod-group-total-count: "2"} | metadata.annotations[K/podset-slice-size]: Invalid value: "3": must not be greater than the pod set's count, 2
          {K/podset-unconstrained-topology: maybe} | metadata.annotations[K/podset-unconstrained-topology]: Invalid value: "maybe": must be a boolean
          """)
  void topologyRefused(String annotations, String message) {
    JsonNode pod =
        edited(MANAGED, set("/metadata/annotations", annotations.replace("K/", "kueue.x-k8s.io/")));

    assertThat(messages(rules::validate, create(pod)))
        .anySatisfy(
            found -> assertThat(found).startsWith(message.replace("K/", "kueue.x-k8s.io/")));
    assertThat(
            messages(
                rules::validate, create(edited(pod, set("/metadata/labels", "{other: \"true\"}")))))
        .as("the pods of a job that is managed as a whole say nothing for themselves")
        .isEmpty();
  }

  @Test
  void aStatefulSetHasAsManyPodsAsItHas() {
    JsonNode pod =
        edited(
            PLAIN,
            set(
                "/metadata/annotations",
                "{kueue.x-k8s.io/pod-suspending-parent: statefulset,"
                    + " kueue.x-k8s.io/podset-slice-required-topology: rack,"
                    + " kueue.x-k8s.io/podset-slice-size: \"2\"}"));

    assertThat(messages(rules::validate, create(pod))).isEmpty();
    assertThat(
            messages(
                rules::validate,
                create(
                    edited(
                        pod,
                        set(
                            "/metadata/annotations/kueue.x-k8s.io~1pod-suspending-parent",
                            "deployment")))))
        .singleElement()
        .asString()
        .endsWith("must not be greater than the pod set's count, 1");
  }

  @Test
  void aMarkThatMeansNothingIsWarnedOf() {
    PodWebhook below = rules(new Reviews.Cluster(false, false, true, Map.of()));
    JsonNode marked =
        edited(OF_ITS_JOB, set("/metadata/labels/kueue.x-k8s.io~1managed", "\"true\""));
    JsonNode suspended =
        edited(
            marked,
            set("/metadata/annotations", "{kueue.x-k8s.io/pod-suspending-parent: deployment}"));

    assertThat(below.validate(create(marked)))
        .isInstanceOfSatisfying(
            AdmissionResult.Allowed.class,
            it ->
                assertThat(it.warnings())
                    .containsExactly(
                        "label kueue.x-k8s.io/managed has no effect: the pod belongs to a job that"
                            + " is managed itself"));
    assertThat(below.validate(create(suspended)))
        .isInstanceOfSatisfying(
            AdmissionResult.Allowed.class, it -> assertThat(it.warnings()).isEmpty());
  }

  // ---- updates

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          /metadata/labels/K~1queue-name | other | metadata.labels[K/queue-name]: Invalid value: "other": field is immutable while the job runs
          /metadata/labels/K~1priority-class | high | metadata.labels[K/priority-class]: Invalid value: "high": must not be added while the job runs
          /metadata/labels/K~1max-exec-time-seconds | "5" | metadata.labels[K/max-exec-time-seconds]: Invalid value: "5": field is immutable unless the job is suspended
          /metadata/annotations/K~1prebuilt-workload-name | w | metadata.annotations[K/prebuilt-workload-name]: Invalid value: "w": field is immutable while the job runs
          """)
  void whileItRunsRefused(String pointer, String value, String message) {
    String path = pointer.replace("K~", "kueue.x-k8s.io~");

    assertThat(messages(rules::validate, update(MANAGED, edited(MANAGED, set(path, value)))))
        .containsExactly(message.replace("K/", "kueue.x-k8s.io/"));
    assertThat(messages(rules::validate, update(GATED, edited(GATED, set(path, value))))).isEmpty();
  }

  @Test
  void lettingItGoIsNoChangeOfTheJob() {
    JsonNode released = edited(GROUPED, set("/spec/schedulingGates", "null"));

    assertThat(messages(rules::validate, update(GROUPED, released))).isEmpty();
  }

  @Test
  void aQueueIsNotTakenAwayWhereThereIsADefaultOne() {
    JsonNode without = edited(GATED, set("/metadata/labels/kueue.x-k8s.io~1queue-name", "null"));

    assertThat(
            messages(
                rules(new Reviews.Cluster(true, false, false, Map.of()))::validate,
                update(GATED, without)))
        .singleElement()
        .asString()
        .contains("must not be emptied");
  }

  @Test
  void theGroupStaysTheSame() {
    String name = "/metadata/annotations/kueue.x-k8s.io~1pod-group-name";
    String message =
        "metadata.annotations[kueue.x-k8s.io/pod-group-name]: Invalid value: \"%s\": field is"
            + " immutable";

    assertThat(messages(rules::validate, update(GROUPED, edited(GROUPED, set(name, "h")))))
        .containsExactly(message.formatted("h"));
    assertThat(messages(rules::validate, update(GATED, GROUPED)))
        .containsExactly(message.formatted("g"));
    assertThat(messages(rules::validate, update(GROUPED, GATED)))
        .containsExactly(message.formatted(""));
  }

  @Test
  void theOperatorPutsPodsOfAStatefulSetIntoTheirGroup() {
    JsonNode before =
        edited(
            GATED,
            set("/metadata/annotations", "{kueue.x-k8s.io/pod-suspending-parent: statefulset}"));
    JsonNode now =
        edited(
            before,
            set("/metadata/annotations/kueue.x-k8s.io~1pod-group-name", "w"),
            set("/metadata/annotations/kueue.x-k8s.io~1prebuilt-workload-name", "w"),
            set("/metadata/annotations/kueue.x-k8s.io~1pod-group-total-count", "\"3\""));
    JsonNode other =
        edited(
            now,
            set("/metadata/annotations/kueue.x-k8s.io~1pod-group-name", "v"),
            set("/metadata/annotations/kueue.x-k8s.io~1prebuilt-workload-name", "v"));

    assertThat(messages(rules::validate, update(before, now))).isEmpty();
    assertThat(messages(rules::validate, update(now, other)))
        .singleElement()
        .asString()
        .contains("field is immutable");
  }

  @Test
  void whatIsNotMadeAgainStaysSo() {
    String key = "/metadata/annotations/kueue.x-k8s.io~1retriable-in-group";
    JsonNode last = edited(GROUPED, set(key, "\"false\""));

    assertThat(messages(rules::validate, update(GROUPED, last))).isEmpty();
    assertThat(messages(rules::validate, update(last, edited(last, set(key, "\"true\"")))))
        .containsExactly(
            "metadata.annotations[kueue.x-k8s.io/retriable-in-group]: Forbidden: must stay"
                + " \"false\" once it is");
    assertThat(messages(rules::validate, update(last, GROUPED))).hasSize(1);
  }

  @Test
  void whatWasWrongBeforeMayStayAndWhatLeavesIsNotAskedAbout() {
    JsonNode wrong =
        edited(
            PLAIN, set("/metadata/annotations", "{kueue.x-k8s.io/pod-group-total-count: \"x\"}"));

    assertThat(messages(rules::validate, update(wrong, wrong))).isEmpty();
    JsonNode leaving =
        edited(
            GROUPED,
            set("/metadata/deletionTimestamp", "\"2026-01-01T00:00:00Z\""),
            set("/metadata/annotations", "{}"));
    assertThat(messages(rules::validate, update(GROUPED, leaving))).isEmpty();
  }
}
