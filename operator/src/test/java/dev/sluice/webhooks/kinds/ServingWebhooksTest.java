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
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Deployments and StatefulSets. */
class ServingWebhooksTest {

  private static final JsonNode PLAIN =
      yaml(
          """
          apiVersion: apps/v1
          kind: Set
          metadata: {name: web, namespace: team, uid: u-1, labels: {}, annotations: {}}
          spec:
            replicas: 3
            template:
              metadata: {labels: {app: web}, annotations: {}}
              spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
          """);
  private static final JsonNode QUEUED =
      edited(PLAIN, set("/metadata/labels", "{kueue.x-k8s.io/queue-name: serving}"));
  private static final JsonNode READY = edited(QUEUED, set("/status", "{readyReplicas: 1}"));

  private static final String QUEUE =
      "{\"op\":\"add\",\"path\":\"/metadata/labels/kueue.x-k8s.io~1queue-name\","
          + "\"value\":\"default\"}";
  private static final String PRIORITY =
      "{\"op\":\"add\",\"path\":\"/metadata/labels/kueue.x-k8s.io~1priority-class\","
          + "\"value\":\"default\"}";

  private static String annotation(String framework) {
    return "{\"op\":\"add\",\"path\":"
        + "\"/spec/template/metadata/annotations/kueue.x-k8s.io~1pod-suspending-parent\","
        + "\"value\":\""
        + framework
        + "\"}";
  }

  private static String label(String key, String value) {
    return "{\"op\":\"add\",\"path\":\"/spec/template/metadata/labels/kueue.x-k8s.io~1"
        + key
        + "\",\"value\":\""
        + value
        + "\"}";
  }

  private static final String PARENT =
      "/spec/template/metadata/annotations/kueue.x-k8s.io~1pod-suspending-parent";

  private static DeploymentWebhook deployments(Reviews.Cluster cluster) {
    return new DeploymentWebhook(settings(), cluster);
  }

  private static StatefulSetWebhook statefulSets(Reviews.Cluster cluster) {
    return new StatefulSetWebhook(settings(), cluster);
  }

  private final DeploymentWebhook deployments = deployments(Reviews.Cluster.EMPTY);
  private final StatefulSetWebhook statefulSets = statefulSets(Reviews.Cluster.EMPTY);

  // ---- what is filled in

  @Test
  void thePodsOfADeploymentAreToldWhatTheyAre() {
    assertThat(Reviews.patch(deployments.mutate(create(QUEUED))))
        .containsExactly(
            annotation("deployment"), label("managed", "true"), label("queue-name", "serving"));
    assertThat(Reviews.patch(deployments.mutate(create(PLAIN)))).isEmpty();

    JsonNode ranked =
        edited(QUEUED, set("/metadata/labels/kueue.x-k8s.io~1priority-class", "high"));
    assertThat(Reviews.patch(deployments.mutate(create(ranked))))
        .contains(label("priority-class", "high"));
  }

  @Test
  void thePodsOfADeploymentFollowItsQueue() {
    JsonNode filled =
        edited(
            QUEUED,
            set(PARENT, "deployment"),
            set("/spec/template/metadata/labels/kueue.x-k8s.io~1managed", "\"true\""),
            set("/spec/template/metadata/labels/kueue.x-k8s.io~1queue-name", "serving"));
    JsonNode moved = edited(filled, set("/metadata/labels/kueue.x-k8s.io~1queue-name", "other"));

    assertThat(Reviews.patch(deployments.mutate(update(filled, filled)))).isEmpty();
    assertThat(Reviews.patch(deployments.mutate(update(filled, moved))))
        .containsExactly(label("queue-name", "other").replace("\"add\"", "\"replace\""));
  }

  @Test
  void thePodsOfAStatefulSetAreToldWhoHoldsThemBack() {
    assertThat(Reviews.patch(statefulSets.mutate(create(QUEUED))))
        .containsExactly(annotation("statefulset"));
    assertThat(Reviews.patch(statefulSets.mutate(create(PLAIN)))).isEmpty();
    assertThat(
            Reviews.patch(statefulSets.mutate(create(edited(QUEUED, set(PARENT, "statefulset"))))))
        .isEmpty();
  }

  @Test
  void aStatefulSetOfAnotherIntegrationIsNotTouched() {
    JsonNode others = edited(QUEUED, set(PARENT, "leaderworkerset.x-k8s.io/leaderworkerset"));
    StatefulSetWebhook withDefaults =
        statefulSets(new Reviews.Cluster(true, true, false, Map.of()));

    assertThat(Reviews.patch(withDefaults.mutate(create(others)))).isEmpty();
    assertThat(
            messages(
                withDefaults::validate, update(others, edited(others, set("/spec/replicas", "5")))))
        .isEmpty();
  }

  @Test
  void defaultsAreTakenWhereTheyMayStillBeChosen() {
    Reviews.Cluster cluster = new Reviews.Cluster(true, true, false, Map.of());
    JsonNode running = edited(PLAIN, set("/status", "{readyReplicas: 1}"));

    assertThat(Reviews.patch(statefulSets(cluster).mutate(create(PLAIN))))
        .containsExactly(QUEUE, PRIORITY, annotation("statefulset"));
    assertThat(Reviews.patch(deployments(cluster).mutate(create(PLAIN))))
        .containsExactly(
            QUEUE,
            PRIORITY,
            annotation("deployment"),
            label("managed", "true"),
            label("queue-name", "default"),
            label("priority-class", "default"));
    assertThat(Reviews.patch(statefulSets(cluster).mutate(update(running, running))))
        .as("what runs without a queue can still be changed")
        .isEmpty();
    assertThat(Reviews.patch(deployments(cluster).mutate(update(running, running)))).isEmpty();
  }

  @Test
  void nothingIsDoneInAnUnmanagedNamespaceOrBelowAManagedOwner() {
    Reviews.Cluster elsewhere = new Reviews.Cluster(false, false, false, Map.of("managed", "no"));
    Reviews.Cluster below = new Reviews.Cluster(true, true, true, Map.of());
    JsonNode owned =
        edited(
            QUEUED,
            set("/metadata/ownerReferences", "[{kind: X, name: x, uid: x, controller: true}]"));

    assertThat(Reviews.patch(deployments(elsewhere).mutate(create(QUEUED)))).isEmpty();
    assertThat(Reviews.patch(statefulSets(elsewhere).mutate(create(QUEUED)))).isEmpty();
    assertThat(Reviews.patch(deployments(below).mutate(create(owned)))).isEmpty();
    assertThat(Reviews.patch(statefulSets(below).mutate(create(owned)))).isEmpty();
  }

  @Test
  void whereJobsWithoutQueueAreManagedTheseAreToo() {
    assertThat(
            Reviews.patch(
                new StatefulSetWebhook(settings(true), Reviews.Cluster.EMPTY)
                    .mutate(create(PLAIN))))
        .containsExactly(annotation("statefulset"));
    assertThat(
            Reviews.patch(
                new DeploymentWebhook(settings(true), Reviews.Cluster.EMPTY).mutate(create(PLAIN))))
        .containsExactly(annotation("deployment"), label("managed", "true"));
  }

  // ---- what is refused

  private List<Function<AdmissionRequest, AdmissionResult>> both() {
    return List.of(deployments::validate, statefulSets::validate);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          /metadata/labels | {K/queue-name: Not_A_Name} | metadata.labels[K/queue-name]: Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain
          /metadata/annotations | {K/elastic-job: "true"} | metadata.annotations[K/elastic-job]: Forbidden: only Job, RayCluster, RayJob and RayService can be elastic
          /metadata/annotations | {K/admission-gated-by: x} | metadata.annotations[K/admission-gated-by]: Invalid value: "x": must be a domain-prefixed path
          /metadata/annotations | {K/admission-gated-by: "a.b/c,a.b/c"} | metadata.annotations[K/admission-gated-by]: Duplicate value: "a.b/c"
          """)
  void refused(String pointer, String value, String message) {
    JsonNode wrong = edited(PLAIN, set(pointer, value.replace("K/", "kueue.x-k8s.io/")));

    for (Function<AdmissionRequest, AdmissionResult> check : both()) {
      assertThat(messages(check, create(wrong)))
          .singleElement()
          .asString()
          .startsWith(message.replace("K/", "kueue.x-k8s.io/"));
      assertThat(messages(check, update(wrong, wrong))).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          labels/K~1queue-name | other | metadata.labels[K/queue-name]: Invalid value: "other": field is immutable while pods are ready
          labels/K~1queue-name | null | metadata.labels[K/queue-name]: Invalid value: "": field is immutable once it is given
          labels/K~1priority-class | high | metadata.labels[K/priority-class]: Invalid value: "high": must not be added while the job runs
          annotations/K~1admission-gated-by | a.b/c | metadata.annotations[K/admission-gated-by]: Forbidden: may be given only at creation, now "a.b/c"
          """)
  void whilePodsAreReadyRefused(String pointer, String value, String message) {
    String path = "/metadata/" + pointer.replace("K~", "kueue.x-k8s.io~");

    for (Function<AdmissionRequest, AdmissionResult> check : both()) {
      assertThat(messages(check, update(READY, edited(READY, set(path, value)))))
          .containsExactly(message.replace("K/", "kueue.x-k8s.io/"));
    }
  }

  @ParameterizedTest
  @CsvSource({"queue-name, other, true", "queue-name, null, false", "priority-class, high, true"})
  void whileNoPodIsReady(String key, String value, boolean allowed) {
    String path = "/metadata/labels/kueue.x-k8s.io~1" + key;

    for (Function<AdmissionRequest, AdmissionResult> check : both()) {
      assertThat(messages(check, update(QUEUED, edited(QUEUED, set(path, value)))).isEmpty())
          .isEqualTo(allowed);
    }
  }

  @Test
  void aPriorityClassIsExchangedButNotTakenAway() {
    String path = "/metadata/labels/kueue.x-k8s.io~1priority-class";
    JsonNode ranked = edited(READY, set(path, "high"));

    for (Function<AdmissionRequest, AdmissionResult> check : both()) {
      assertThat(messages(check, update(ranked, edited(ranked, set(path, "low"))))).isEmpty();
      assertThat(messages(check, update(ranked, READY)))
          .containsExactly(
              "metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: \"\": must not be"
                  + " removed, it was \"high\"");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          containers | [{name: c, resources: {requests: {cpu: "2"}}}] | spec.template.spec.containers
          initContainers | [{name: i, resources: {requests: {cpu: "2"}}}] | spec.template.spec.initContainers
          nodeSelector | {zone: b} | spec.template.spec.nodeSelector
          affinity | {nodeAffinity: {}} | spec.template.spec.affinity
          tolerations | [{key: k}] | spec.template.spec.tolerations
          runtimeClassName | kata | spec.template.spec.runtimeClassName
          priority | 5 | spec.template.spec.priority
          topologySpreadConstraints | [{maxSkew: 1}] | spec.template.spec.topologySpreadConstraints
          overhead | {cpu: 10m} | spec.template.spec.overhead
          resourceClaims | [{name: r}] | spec.template.spec.resourceClaims
          resources | {requests: {cpu: "3"}} | spec.template.spec.resources
          """)
  void theShapeOfAStatefulSetInAQueueStays(String field, String value, String path) {
    JsonNode changed = edited(QUEUED, set("/spec/template/spec/" + field, value));

    assertThat(messages(statefulSets::validate, update(QUEUED, changed)))
        .singleElement()
        .asString()
        .startsWith(path + ": Invalid value: ")
        .endsWith("field is immutable for a StatefulSet in a queue");
    assertThat(messages(deployments::validate, update(QUEUED, changed))).isEmpty();
    assertThat(
            messages(
                statefulSets::validate,
                update(PLAIN, edited(PLAIN, set("/spec/template/spec/" + field, value)))))
        .isEmpty();
  }

  /** Limits stand for absent requests, in a container and for the pod as a whole. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          {limits: {cpu: "1"}} | {limits: {cpu: "100"}} | false
          {limits: {cpu: "1"}} | {} | false
          {limits: {cpu: "1"}} | {limits: {cpu: "1", memory: 1Gi}} | false
          {limits: {cpu: "1"}} | {requests: {cpu: "1"}, limits: {cpu: "9"}} | true
          {requests: {cpu: "1"}, limits: {cpu: "2"}} | {requests: {cpu: "1"}, limits: {cpu: "9"}} | true
          {requests: {cpu: "1"}, limits: {cpu: "2"}} | {limits: {cpu: "2"}} | false
          """)
  void limitsThatAreChargedStay(String before, String now, boolean allowed) {
    for (String of : List.of("/containers/0", "/initContainers/0", "")) {
      String pointer = "/spec/template/spec" + of + "/resources";
      JsonNode old =
          edited(
              QUEUED,
              set("/spec/template/spec/initContainers", "[{name: i}]"),
              set(pointer, before));

      assertThat(
              messages(statefulSets::validate, update(old, edited(old, set(pointer, now))))
                  .isEmpty())
          .as(pointer)
          .isEqualTo(allowed);
    }
  }

  @Test
  void whoHoldsThePodsOfAStatefulSetBackStays() {
    JsonNode ours = edited(READY, set(PARENT, "statefulset"));
    JsonNode foreign = edited(ours, set(PARENT, "x"));
    JsonNode other =
        edited(
            foreign,
            set("/spec/replicas", "5"),
            set("/spec/template/spec/nodeSelector", "{zone: b}"),
            set("/metadata/labels/kueue.x-k8s.io~1priority-class", "high"));
    String parent =
        "spec.template.metadata.annotations[kueue.x-k8s.io/pod-suspending-parent]: Invalid value:"
            + " \"x\": field is immutable for a StatefulSet in a queue";

    assertThat(messages(statefulSets::validate, update(ours, foreign))).containsExactly(parent);
    assertThat(messages(statefulSets::validate, update(ours, other))).hasSize(4).contains(parent);
    assertThat(
            messages(
                statefulSets::validate,
                update(ours, edited(foreign, set("/metadata/labels", "{}")))))
        .as("the queue is taken away, too")
        .hasSize(1);
  }

  /** It would be in its queue again, with the old quota, when it names that owner no more. */
  @ParameterizedTest
  @CsvSource({"true, true, 3", "true, false, 0", "false, true, 3"})
  void theShapeStaysBelowAnOwnerAsLongAsThereIsAWorkload(
      boolean managed, boolean busy, int refused) {
    StatefulSetWebhook webhook =
        statefulSets(new Reviews.Cluster(false, false, managed, Map.of(), busy ? "u-1" : ""));
    JsonNode old = edited(QUEUED, set(PARENT, "statefulset"));
    JsonNode owned =
        edited(
            old,
            set("/metadata/ownerReferences", "[{kind: X, name: x, uid: x, controller: true}]"));
    JsonNode changed =
        edited(
            owned,
            set(PARENT, "x"),
            set("/spec/replicas", "5"),
            set("/spec/template/spec/nodeSelector", "{zone: b}"));

    assertThat(messages(webhook::validate, update(old, owned))).isEmpty();
    assertThat(messages(webhook::validate, update(old, changed))).hasSize(refused);
    assertThat(messages(webhook::validate, update(owned, changed))).hasSize(refused);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/spec/template/spec/containers/0/image",
        "/spec/template/metadata/annotations/version",
        "/spec/template/spec/serviceAccountName"
      })
  void anotherImageIsARolloutLikeAny(String pointer) {
    assertThat(messages(statefulSets::validate, update(READY, edited(READY, set(pointer, "x")))))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          3 | 4 | 0 | spec.replicas: Invalid value: 4: field is immutable for a StatefulSet in a queue, except for scaling to 0 and, from there, to any number
          3 | 1 | 0 | spec.replicas: Invalid value: 1: field is immutable for a StatefulSet in a queue
          0 | 2 | 1 | spec.replicas: Forbidden: may not be raised to 2 while scaling to 0 is in progress
          """)
  void scalingRefused(int before, int now, int running, String message) {
    JsonNode old =
        edited(
            QUEUED,
            set("/spec/replicas", "" + before),
            set("/status", "{replicas: " + running + "}"));
    JsonNode scaled = edited(old, set("/spec/replicas", "" + now));

    assertThat(messages(statefulSets::validate, update(old, scaled)))
        .singleElement()
        .asString()
        .startsWith(message);
    assertThat(messages(deployments::validate, update(old, scaled))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"3, 0", "3, 3", "0, 5", "0, 0"})
  void scalingAllowed(int before, int now) {
    JsonNode old = edited(QUEUED, set("/spec/replicas", "" + before));

    assertThat(
            messages(
                statefulSets::validate, update(old, edited(old, set("/spec/replicas", "" + now)))))
        .isEmpty();
  }

  @Test
  void onlyWhatIsOnHoldIsScaledUp() {
    JsonNode none = edited(QUEUED, set("/spec/replicas", "0"));
    JsonNode some = edited(QUEUED, set("/spec/replicas", "2"));
    JsonNode sent =
        edited(
            none, set("/metadata/annotations", "{kueue.x-k8s.io/multikueue-origin-uid: origin}"));
    StatefulSetWebhook busy =
        statefulSets(new Reviews.Cluster(false, false, false, Map.of(), "u-1"));
    StatefulSetWebhook busyAtOrigin =
        statefulSets(new Reviews.Cluster(false, false, false, Map.of(), "origin"));

    assertThat(messages(busy::validate, update(none, some)))
        .containsExactly(
            "spec.replicas: Forbidden: may not be raised to 2 while its Workload is not on hold");
    assertThat(messages(busyAtOrigin::validate, update(none, some))).isEmpty();
    assertThat(
            messages(
                busyAtOrigin::validate, update(sent, edited(sent, set("/spec/replicas", "2")))))
        .hasSize(1);
  }

  @Test
  void withoutAQueueAStatefulSetIsScaledFreely() {
    assertThat(
            messages(
                statefulSets::validate, update(PLAIN, edited(PLAIN, set("/spec/replicas", "9")))))
        .isEmpty();
  }
}
