package dev.sluice.checks.provisioning;

import static dev.sluice.checks.provisioning.ProvisionedQueue.JOB;
import static dev.sluice.checks.provisioning.ProvisionedQueue.REQUEST;
import static dev.sluice.checks.provisioning.ProvisionedQueue.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.provisioning.RequestManifest.AcceptableTemplate;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Workloads whose nodes an autoscaler provides, which the test plays, on a real control plane. */
@OperatorTest(configuration = OperatorTest.WITH_GATES)
class ProvisioningRequestIT {

  private static final String WORKLOAD = QueuedJobs.WORKLOAD;
  private static final String TEMPLATE = "v1/PodTemplate";
  private static final String QUICK =
      "retryStrategy: {backoffLimitCount: 1, backoffBaseSeconds: 1, backoffMaxSeconds: 60}\n";

  private static final String BARE =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: Workload
      metadata: {name: bare}
      spec:
        active: false
        queueName: lq
        podSets:
        - name: main
          template:
            spec:
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
      """;

  private TestCluster cluster;
  private ProvisionedQueue queue;
  private QueuedJobs jobs;

  @BeforeEach
  void setUp(TestCluster own) {
    cluster = own;
    queue = new ProvisionedQueue(own);
    jobs = queue.jobs();
    ProvisionedQueue.install(own.client());
  }

  @Test
  void aJobStartsOnTheNodesThatWereProvisionedForIt() {
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name("grown"), 1)
            .withLabel("pool", cluster.name("grown"))
            .withLabel("example.com/node-group", "group-7"));
    queue
        .withCheck(
            """
            parameters: {ValidUntilSeconds: "60", zone: a}
            podSetUpdates:
              nodeSelector:
              - {key: example.com/node-group, valueFromProvisioningClassDetail: NodeGroupName}
            """)
        .withQueues();
    queue.awaitActive("True", "Active", "");

    String workload = queue.submit("sample", "provreq.kueue.x-k8s.io/zone: b");

    JsonNode request = queue.awaitRequest(workload, 1);
    String name = queue.request(workload, 1);
    assertThat(request.at("/metadata/labels/kueue.x-k8s.io~1managed").asText()).isEqualTo("true");
    JsonNode owner = request.at("/metadata/ownerReferences/0");
    assertThat(owner.path("kind").asText()).isEqualTo("Workload");
    assertThat(owner.path("name").asText()).isEqualTo(workload);
    assertThat(owner.path("controller").asBoolean()).isTrue();
    assertThat(request.at("/spec/provisioningClassName").asText())
        .isEqualTo("check-capacity.autoscaling.x-k8s.io");
    assertThat(request.at("/spec/parameters"))
        .hasToString("{\"ValidUntilSeconds\":\"60\",\"zone\":\"b\"}");
    assertThat(request.at("/spec/podSets"))
        .hasToString("[{\"count\":2,\"podTemplateRef\":{\"name\":\"ppt-" + name + "-main\"}}]");
    eventually(
        () -> {
          JsonNode template = jobs.get(TEMPLATE, "ppt-" + name + "-main");
          assertThat(template.at("/metadata/labels/kueue.x-k8s.io~1managed").asText())
              .isEqualTo("true");
          assertThat(template.at("/metadata/ownerReferences/0/uid"))
              .isEqualTo(request.at("/metadata/uid"));
          assertThat(template.at("/template/spec/containers/0/resources/requests/cpu").asText())
              .isEqualTo("1");
          assertThat(template.at("/template/spec/nodeSelector/pool").asText())
              .isEqualTo(cluster.name("grown"));
        });
    queue.awaitCheck(workload, "Pending", "waits for an autoscaler");

    queue.answer(name, "Accepted", "nodes in five minutes");
    queue.awaitCheck(workload, "Pending", "nodes in five minutes");
    assertThat(jobs.get(JOB, "sample").at("/spec/suspend").asBoolean()).isTrue();

    queue.answer(name, "Provisioned", "here they are", "{'NodeGroupName': 'group-7'}");
    queue.awaitCheck(workload, "Ready", "here they are");
    jobs.awaitCondition(WORKLOAD, workload, "Admitted", "True");
    eventually(
        () -> {
          JsonNode job = jobs.get(JOB, "sample");
          assertThat(job.at("/spec/suspend").asBoolean()).isFalse();
          JsonNode annotations = job.at("/spec/template/metadata/annotations");
          assertThat(annotations.path("autoscaling.x-k8s.io/consume-provisioning-request").asText())
              .isEqualTo(name);
          assertThat(annotations.path("autoscaling.x-k8s.io/provisioning-class-name").asText())
              .isEqualTo("check-capacity.autoscaling.x-k8s.io");
          assertThat(job.at("/spec/template/spec/nodeSelector/example.com~1node-group").asText())
              .isEqualTo("group-7");
          assertThat(job.at("/status/active").asInt()).isEqualTo(2);
        });
    eventually(
        () ->
            assertThat(queue.events(workload))
                .contains("ProvisioningRequestCreated", "AdmissionCheckUpdated"));

    // an expired booking of a running Workload is what happens when it is used
    queue.answer(name, "BookingExpired", "used");
    jobs.endPodsUntilFinished(workload);
    jobs.awaitGone(REQUEST, name);
    jobs.awaitGone(TEMPLATE, "ppt-" + name + "-main");
    assertThat(queue.check(workload).path("state").asText()).isEqualTo("Ready");
  }

  /** The pods that run have their nodes: only for the others nodes are requested. */
  @Test
  void anElasticJobRequestsNodesForThePodsThatItHasMore() {
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name("grown"), 1).withLabel("pool", cluster.name("grown")));
    queue.withCheck("").withQueues();
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: grows
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {kueue.x-k8s.io/elastic-job: "true"}
        spec:
          parallelism: 2
          completions: 100
          template:
            metadata: {annotations: {sluice.dev/run-for: 60m}}
            spec:
              restartPolicy: Never
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    String first = jobs.workloadOf(JOB, "grows");
    assertThat(queue.awaitRequest(first, 1).at("/spec/podSets/0/count").asInt()).isEqualTo(2);
    queue.answer(queue.request(first, 1), "Provisioned", "");
    jobs.awaitCondition(WORKLOAD, first, "Admitted", "True");

    jobs.patch(JOB, "grows", "{'spec': {'parallelism': 5}}");
    String second =
        await("the replacement")
            .atMost(Duration.ofMinutes(3))
            .until(
                () ->
                    jobs.workloads().stream()
                        .map(each -> each.at("/metadata/name").asText())
                        .filter(name -> !name.equals(first))
                        .toList(),
                names -> names.size() == 1)
            .getFirst();
    assertThat(queue.awaitRequest(second, 1).at("/spec/podSets/0/count").asInt()).isEqualTo(3);

    jobs.patch(JOB, "grows", "{'spec': {'parallelism': 4}}");
    eventually(
        () ->
            assertThat(
                    jobs.get(REQUEST, queue.request(second, 1)).at("/spec/podSets/0/count").asInt())
                .isEqualTo(2));

    queue.answer(queue.request(second, 1), "Provisioned", "");
    jobs.awaitCondition(WORKLOAD, second, "Admitted", "True");
    jobs.awaitCondition(WORKLOAD, first, "Finished", "True");
    eventually(
        () ->
            assertThat(
                    jobs.pods().stream()
                        .filter(pod -> pod.at("/status/phase").asText().equals("Running"))
                        .map(
                            pod ->
                                pod.at("/metadata/annotations")
                                    .path("autoscaling.x-k8s.io/consume-provisioning-request")
                                    .asText())
                        .sorted())
                .containsExactlyInAnyOrder(
                    queue.request(first, 1),
                    queue.request(first, 1),
                    queue.request(second, 1),
                    queue.request(second, 1)));
  }

  @Test
  void aFailedRequestIsTriedAgainUntilTheLimitRejectsTheWorkload() {
    queue.withCheck(QUICK).withQueues();
    String workload = queue.submit("failing", "");
    queue.awaitRequest(workload, 1);

    queue.answer(queue.request(workload, 1), "Failed", "no such nodes");

    queue.awaitRequest(workload, 2);
    jobs.awaitGone(REQUEST, queue.request(workload, 1));
    assertThat(queue.check(workload).path("retryCount").asInt()).isEqualTo(1);
    eventually(() -> assertThat(queue.events(workload)).contains("EvictedDueToAdmissionCheck"));

    queue.answer(queue.request(workload, 2), "BookingExpired", "nobody came");

    jobs.awaitCondition(WORKLOAD, workload, "Evicted", "True");
    eventually(
        () ->
            assertThat(jobs.get(WORKLOAD, workload).at("/spec/active").asBoolean(true)).isFalse());
    eventually(() -> assertThat(queue.events(workload)).contains("AdmissionCheckRejected"));
    jobs.awaitGone(REQUEST, queue.request(workload, 2));
    assertThat(jobs.pods()).isEmpty();
  }

  @Test
  void capacityThatIsRevokedDeactivatesARunningWorkload() {
    queue.withCheck("").withQueues();
    String workload = queue.submit("revoked", "");
    queue.awaitRequest(workload, 1);
    queue.answer(queue.request(workload, 1), "Provisioned", "");
    jobs.awaitCondition(WORKLOAD, workload, "Admitted", "True");

    queue.answer(queue.request(workload, 1), "CapacityRevoked", "taken back");

    jobs.awaitCondition(WORKLOAD, workload, "Admitted", "False");
    eventually(
        () -> {
          assertThat(jobs.get(WORKLOAD, workload).at("/spec/active").asBoolean(true)).isFalse();
          assertThat(jobs.get(JOB, "revoked").at("/spec/suspend").asBoolean()).isTrue();
        });
    jobs.awaitGone(REQUEST, queue.request(workload, 1));
  }

  @Test
  void podsThatRequestNoManagedResourceNeedNoRequest() {
    queue.withCheck("managedResources: [nvidia.com/gpu]\n").withQueues();

    String workload = queue.submit("plain", "");

    jobs.awaitCondition(WORKLOAD, workload, "Admitted", "True");
    assertThat(queue.check(workload).path("state").asText()).isEqualTo("Ready");
    assertThat(queue.check(workload).has("podSetUpdates")).isFalse();
    assertThat(jobs.find(REQUEST, queue.request(workload, 1))).isEmpty();
  }

  @Test
  void aCheckWhoseParametersAreMissingSaysSoAndWaits() {
    queue.withCheck("").withQueues();
    queue.awaitActive("True", "Active", "");
    jobs.awaitCondition("kueue.x-k8s.io/v1beta2/LocalQueue", "lq", "Active", "True");
    cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ProvisioningRequestConfig")
        .withName(cluster.name("nodes"))
        .delete();
    queue.awaitActive("False", "BadParametersRef", cluster.name("nodes"));

    queue.withConfig("");

    queue.awaitActive("True", "Active", "");
    String workload = queue.submit("late", "");
    queue.awaitRequest(workload, 1);
  }

  @Test
  void aTemplateThatNoPodCouldHaveAsItIsBecomesAPodTemplate() {
    queue.withCheck("").withQueues();
    jobs.awaitCondition("kueue.x-k8s.io/v1beta2/LocalQueue", "lq", "Active", "True");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: claims}
        spec:
          queueName: lq
          podSets:
          - name: main
            template:
              spec:
                containers:
                - name: c
                  resources: {requests: {cpu: "1"}}
                  volumeMounts: [{name: claim, mountPath: /data}]
                  volumeDevices: [{name: block, devicePath: /dev/block}]
        """);
    eventually(
        () -> {
          JsonNode container =
              jobs.get(TEMPLATE, "ppt-" + queue.request("claims", 1) + "-main")
                  .at("/template/spec/containers/0");
          assertThat(container.at("/resources/requests/cpu").asText()).isEqualTo("1");
          assertThat(container.path("image").asText()).isEqualTo(AcceptableTemplate.IMAGE);
        });
    queue.awaitCheck("claims", "Pending", "waits for an autoscaler");
  }

  @Test
  void aRequestOfSomebodyElseWithTheSameNameIsLeftAlone() {
    queue.withCheck("").withQueues();
    jobs.awaitCondition("kueue.x-k8s.io/v1beta2/LocalQueue", "lq", "Active", "True");
    cluster.applyText(BARE);
    cluster.applyText(
        """
        apiVersion: autoscaling.x-k8s.io/v1
        kind: ProvisioningRequest
        metadata: {name: "%s"}
        spec:
          provisioningClassName: other
          podSets: [{count: 1, podTemplateRef: {name: other}}]
        """
            .formatted(queue.request("bare", 1)));
    queue.answer(queue.request("bare", 1), "Provisioned", "");

    jobs.patch(WORKLOAD, "bare", "{'spec': {'active': true}}");

    queue.awaitCheck("bare", "Pending", "is left alone");
    eventually(() -> assertThat(queue.events("bare")).contains("FailedCreate"));
    assertThat(jobs.get(REQUEST, queue.request("bare", 1)).at("/metadata").has("ownerReferences"))
        .isFalse();
    jobs.delete(WORKLOAD, "bare");
    jobs.awaitGone(WORKLOAD, "bare");
    assertThat(jobs.find(REQUEST, queue.request("bare", 1))).isPresent();
  }

  /** The names and the UID of a Workload are no secrets, and it may wait for quota for long. */
  @Test
  void aRequestThatSomebodyWroteInTheOperatorsNameIsReplaced() {
    queue.withCheck("").withQueues();
    jobs.awaitCondition("kueue.x-k8s.io/v1beta2/LocalQueue", "lq", "Active", "True");
    queue.stop("Hold");
    cluster.applyText(BARE.replace("active: false", "active: true"));
    String request = queue.request("bare", 1);
    cluster.applyText(
        """
        apiVersion: autoscaling.x-k8s.io/v1
        kind: ProvisioningRequest
        metadata:
          name: "%1$s"
          labels: {kueue.x-k8s.io/managed: "true"}
          ownerReferences:
          - {apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: bare, uid: %2$s, controller: true}
        spec:
          provisioningClassName: check-capacity.autoscaling.x-k8s.io
          podSets: [{count: 1, podTemplateRef: {name: "ppt-%1$s-main"}}]
        """
            .formatted(request, jobs.get(WORKLOAD, "bare").at("/metadata/uid").asText()));
    String uid = jobs.get(REQUEST, request).at("/metadata/uid").asText();
    cluster.applyText(
        """
        apiVersion: v1
        kind: PodTemplate
        metadata:
          name: "ppt-%1$s-main"
          labels: {kueue.x-k8s.io/managed: "true"}
          ownerReferences:
          - {apiVersion: autoscaling.x-k8s.io/v1, kind: ProvisioningRequest, name: "%1$s", uid: %2$s, controller: true}
        template: {spec: {containers: [{name: c, image: none, resources: {requests: {cpu: 1m}}}]}}
        """
            .formatted(request, uid));
    queue.answer(request, "Provisioned", "a small node");

    queue.stop("None");

    eventually(
        () ->
            assertThat(jobs.get(REQUEST, request).at("/metadata/uid").asText()).isNotEqualTo(uid));
    assertThat(queue.check("bare").path("state").asText()).isEqualTo("Pending");
    eventually(
        () ->
            assertThat(
                    jobs.get(TEMPLATE, "ppt-" + request + "-main")
                        .at("/template/spec/containers/0/resources/requests/cpu")
                        .asText())
                .isEqualTo("1"));
    queue.answer(request, "Provisioned", "a large node");
    queue.awaitCheck("bare", "Ready", "a large node");
  }

  /** Changes of 0.20, section 4: EnforceProvisioningPodTemplateContents. */
  @Test
  void aPodTemplateOfSomebodyElseWithTheSameNameIsReplaced() {
    queue.withCheck("").withQueues();
    jobs.awaitCondition("kueue.x-k8s.io/v1beta2/LocalQueue", "lq", "Active", "True");
    String template = "ppt-" + queue.request("bare", 1) + "-main";
    cluster.applyText(
        """
        apiVersion: v1
        kind: PodTemplate
        metadata: {name: "%s"}
        template: {spec: {containers: [{name: other, image: none}]}}
        """
            .formatted(template));
    cluster.applyText(BARE.replace("active: false", "active: true"));

    eventually(
        () ->
            assertThat(jobs.get(TEMPLATE, template).at("/template/spec/containers/0/name").asText())
                .isNotEqualTo("other"));
  }

  @Test
  void anEvictionDeletesTheRequestAndTheNextReservationHasANewOne() {
    queue.withCheck("").withQueues();
    String workload = queue.submit("evicted", "");
    String first = queue.awaitRequest(workload, 1).at("/metadata/uid").asText();

    jobs.patch(WORKLOAD, workload, "{'spec': {'active': false}}");
    jobs.awaitGone(REQUEST, queue.request(workload, 1));
    jobs.awaitGone(TEMPLATE, "ppt-" + queue.request(workload, 1) + "-main");

    jobs.patch(WORKLOAD, workload, "{'spec': {'active': true}}");

    JsonNode second = queue.awaitRequest(workload, 1);
    assertThat(second.at("/metadata/uid").asText()).isNotEqualTo(first);
    eventually(
        () ->
            assertThat(
                    jobs.get(TEMPLATE, "ppt-" + queue.request(workload, 1) + "-main")
                        .at("/metadata/ownerReferences/0/uid"))
                .isEqualTo(second.at("/metadata/uid")));
    jobs.delete(JOB, "evicted");
    jobs.awaitGone(WORKLOAD, workload);
    jobs.awaitGone(REQUEST, queue.request(workload, 1));
  }

  /** Another check is Ready after the quota is gone, and the next quota is of another flavor. */
  @Test
  void aCheckIsNotReadyForTheNodesOfALostReservation() {
    queue.withCheck("").withQueues().withCheckOfTheTest();
    String workload = queue.submit("moved", "");
    String uid = queue.awaitRequest(workload, 1).at("/metadata/uid").asText();
    queue.answer(queue.request(workload, 1), "Provisioned", "nodes came");
    queue.awaitCheck(workload, "Ready", "nodes came");

    queue.stop("Hold");
    jobs.awaitCondition(WORKLOAD, workload, "QuotaReserved", "False");
    queue.awaitCheck(workload, "Pending", "taken back");
    assertThat(queue.check(workload).has("podSetUpdates")).isFalse();
    queue.answerCheckOfTheTest(workload);
    queue.withOtherFlavor();
    queue.stop("None");

    jobs.awaitCondition(WORKLOAD, workload, "QuotaReserved", "True");
    eventually(
        () ->
            assertThat(jobs.get(REQUEST, queue.request(workload, 1)).at("/metadata/uid").asText())
                .isNotEqualTo(uid));
    assertThat(jobs.get(JOB, "moved").at("/spec/suspend").asBoolean()).isTrue();
    queue.answer(queue.request(workload, 1), "Provisioned", "other nodes came");
    jobs.awaitCondition(WORKLOAD, workload, "Admitted", "True");
  }

  @Test
  void aRequestOutlivesALostReservationAndIsMadeAnewForAnotherConfiguration() {
    queue.withCheck("parameters: {zone: a}").withQueues();
    String workload = queue.submit("kept", "");
    String uid = queue.awaitRequest(workload, 1).at("/metadata/uid").asText();

    queue.stop("Hold");
    jobs.awaitCondition(WORKLOAD, workload, "QuotaReserved", "False");
    queue.answer(queue.request(workload, 1), "Accepted", "nodes come");
    queue.stop("None");
    jobs.awaitCondition(WORKLOAD, workload, "QuotaReserved", "True");
    queue.awaitCheck(workload, "Pending", "nodes come");
    assertThat(jobs.get(REQUEST, queue.request(workload, 1)).at("/metadata/uid").asText())
        .isEqualTo(uid);

    queue.withConfig("parameters: {zone: b}");
    eventually(
        () -> {
          JsonNode anew = jobs.get(REQUEST, queue.request(workload, 1));
          assertThat(anew.at("/metadata/uid").asText()).isNotEqualTo(uid);
          assertThat(anew.at("/spec/parameters/zone").asText()).isEqualTo("b");
        });
    queue.answer(queue.request(workload, 1), "Provisioned", "");
    jobs.awaitCondition(WORKLOAD, workload, "Admitted", "True");
  }
}
