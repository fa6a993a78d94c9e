package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.NameHash;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.policy.FlavorLookup;
import dev.sluice.jobs.policy.FlavorLookup.FlavorPods;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestManifestTest {

  private static final String TWO =
      """
      - name: a
        template: {spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 1}}}]}}
      - name: b
        template: {spec: {containers: [{name: c, image: %s, resources: {requests: {cpu: %s}}}]}}
      """;

  private final GivenProvisioning given = new GivenProvisioning();
  private final FlavorLookup flavors =
      name ->
          Optional.of(
              new FlavorPods(name.equals("spot") ? Map.of("pool", "spot") : Map.of(), List.of()));

  private RequestManifest manifest(String config) throws StartConflictException {
    return RequestManifest.of(
        given.workload(), given.json(), "wl-check-1", GivenProvisioning.config(config), flavors);
  }

  private RequestManifest two(String image, String cpu, String policy)
      throws StartConflictException {
    given
        .with("/spec/podSets", TWO.formatted(image, cpu))
        .with(
            "/status/admission/podSetAssignments",
            "[{name: a, count: 1, flavors: {cpu: any}}, {name: b, count: 4, flavors: {cpu: any}}]");
    return manifest(policy.isEmpty() ? "" : "podSetMergePolicy: " + policy);
  }

  @Test
  void aRequestIsTheWorkloadsAndSaysWhatIsWanted() throws StartConflictException {
    given.with(
        "/metadata/annotations",
        "{provreq.kueue.x-k8s.io/zone: b, provreq.kueue.x-k8s.io/more: c, example.com/x: y}");
    JsonNode request = manifest("parameters: {zone: a, ValidUntilSeconds: '60'}").request();

    assertThat(request)
        .isEqualTo(
            GivenProvisioning.yaml(
                """
                apiVersion: autoscaling.x-k8s.io/v1
                kind: ProvisioningRequest
                metadata:
                  namespace: ns
                  name: wl-check-1
                  labels: {kueue.x-k8s.io/managed: "true"}
                  annotations:
                    sluice.dev/quota-reserved-at: "2026-03-01T10:00:00Z"
                    sluice.dev/request-digest: "%s"
                  ownerReferences:
                  - {apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: wl, uid: wl-uid, controller: true}
                spec:
                  provisioningClassName: nodes
                  parameters: {ValidUntilSeconds: "60", more: c, zone: b}
                  podSets: [{count: 3, podTemplateRef: {name: ppt-wl-check-1-main}}]
                """
                    .formatted(
                        NameHash.sha1(
                            "{\"class\":\"nodes\",\"parameters\":{\"ValidUntilSeconds\":\"60\","
                                + "\"more\":\"c\",\"zone\":\"b\"},\"podSets\":[{\"name\":\"main\","
                                + "\"count\":3,\"flavors\":{\"cpu\":\"spot\"}}]}"))));
  }

  /** Changes of 0.20, section 1: pod sets without pods are in no request. */
  @Test
  void aPodSetThatWasAdmittedWithoutPodsIsLeftOut() throws StartConflictException {
    given
        .with("/spec/podSets", TWO.formatted("y", "1"))
        .with(
            "/status/admission/podSetAssignments",
            "[{name: a, count: 0, flavors: {cpu: any}}, {name: b, count: 4, flavors: {cpu: any}}]");

    RequestManifest manifest = manifest("");

    assertThat(manifest.request().at("/spec/podSets"))
        .isEqualTo(
            GivenProvisioning.yaml("[{count: 4, podTemplateRef: {name: ppt-wl-check-1-b}}]"));
    assertThat(manifest.templates()).containsOnlyKeys("ppt-wl-check-1-b");
  }

  @Test
  void aTemplateIsThePodSetsWithWhatItsFlavorGives() throws StartConflictException {
    RequestManifest manifest = manifest("");
    assertThat(manifest.request().path("spec").has("parameters")).isFalse();
    assertThat(manifest.templates())
        .isEqualTo(
            Map.of(
                "ppt-wl-check-1-main",
                GivenProvisioning.yaml(
                    "spec: {containers: [{name: c, image: sluice.dev/unknown,"
                        + " resources: {requests: {cpu: 1}}}],"
                        + " nodeSelector: {pool: spot}}")));

    CachedRequest request = GivenProvisioning.request("wl-check-1", "{}");
    assertThat(RequestManifest.podTemplate("ppt", GivenProvisioning.yaml("spec: {}"), request))
        .isEqualTo(
            GivenProvisioning.yaml(
                """
                apiVersion: v1
                kind: PodTemplate
                metadata:
                  namespace: ns
                  name: ppt
                  labels: {kueue.x-k8s.io/managed: "true"}
                  ownerReferences:
                  - {apiVersion: autoscaling.x-k8s.io/v1, kind: ProvisioningRequest, name: wl-check-1, uid: pr-uid, controller: true}
                template: {spec: {}}
                """));
  }

  private static Map<String, JsonNode> podTemplate(String spec) {
    return Map.of("ppt-wl-check-1-main", GivenProvisioning.yaml("template: {spec: " + spec + "}"));
  }

  /** Whoever may create requests may give one the label and the owner of those of the operator. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "3 | ppt-wl-check-1-main | 1000m | spot | true",
        "3 | ppt-wl-check-1-main | 2 | spot | true",
        "1 | ppt-wl-check-1-main | 1 | spot | false",
        "3 | ppt | 1 | spot | false",
        "3 | ppt-wl-check-1-main | 1m | spot | false",
        "3 | ppt-wl-check-1-main | 1 | cheap | false",
      })
  void aRequestIsCoveredByOneForAsManyPodsThatNeedNoSmallerNodes(
      int count, String name, String cpu, String pool, boolean covered)
      throws StartConflictException {
    ObjectNode request = GivenProvisioning.requestJson("wl-check-1", "{}");
    request.set(
        "spec",
        GivenProvisioning.yaml(
            "{provisioningClassName: nodes, podSets: [{count: %d, podTemplateRef: {name: %s}}]}"
                .formatted(count, name)));
    Map<String, JsonNode> templates =
        podTemplate(
            """
            {nodeSelector: {pool: %s}, restartPolicy: Always,
             containers: [{name: c, image: other, resources: {requests: {cpu: %s, memory: 1}}}]}
            """
                .formatted(pool, cpu));
    assertThat(manifest("").isCoveredBy(CachedRequest.of(request), templates)).isEqualTo(covered);
    assertThat(manifest("").isCoveredBy(CachedRequest.of(request), Map.of())).isFalse();
  }

  @Test
  void aTemplateIsCompletedSoThatThePodTemplateIsAccepted() throws StartConflictException {
    given.with(
        "/spec/podSets/0/template",
        """
        spec:
          restartPolicy: Never
          volumes: [{name: known, emptyDir: {}}]
          initContainers:
          - {name: sidecar, image: y, restartPolicy: Always}
          - {volumeMounts: [{name: claim, mountPath: /c}, {name: known, mountPath: /k}]}
          containers:
          - name: c
            restartPolicy: Never
            restartPolicyRules: []
            resources: {requests: {cpu: 1}}
            volumeMounts: [{name: claim, mountPath: /c}]
            volumeDevices: [{name: claim, devicePath: /d}]
          ephemeralContainers: [{name: e}]
        """);
    assertThat(manifest("").templates().get("ppt-wl-check-1-main"))
        .isEqualTo(
            GivenProvisioning.yaml(
                """
                spec:
                  restartPolicy: Never
                  nodeSelector: {pool: spot}
                  volumes: [{name: known, emptyDir: {}}]
                  initContainers:
                  - {name: sidecar, image: y, restartPolicy: Always}
                  - name: i2
                    image: sluice.dev/unknown
                    volumeMounts: [{name: known, mountPath: /k}]
                  containers:
                  - name: c
                    image: sluice.dev/unknown
                    resources: {requests: {cpu: 1}}
                """));
  }

  @Test
  void aTemplateWithoutContainersGetsOne() throws StartConflictException {
    given.with("/spec/podSets/0/template", "{spec: {resources: {requests: {cpu: 1}}}}");
    assertThat(manifest("").templates().values())
        .extracting(template -> template.at("/spec/containers"))
        .containsExactly(GivenProvisioning.yaml("[{name: c1, image: sluice.dev/unknown}]"));
  }

  @Test
  void podsThatContradictTheirFlavorGetNoRequest() {
    given.with("/spec/podSets/0/template/spec/nodeSelector", "{pool: other}");
    assertThatThrownBy(() -> manifest("")).isInstanceOf(StartConflictException.class);
  }

  @Test
  void withoutAPolicyEachPodSetHasAnEntry() throws StartConflictException {
    assertThat(entries(two("x", "1", ""))).containsExactly("1 a", "4 b");
  }

  @Test
  void equalTemplatesShareAnEntry() throws StartConflictException {
    assertThat(entries(two("x", "1", "IdenticalPodTemplates"))).containsExactly("5 a");
    assertThat(entries(two("y", "1", "IdenticalPodTemplates"))).containsExactly("1 a", "4 b");
  }

  @Test
  void templatesThatScheduleAlikeShareAnEntry() throws StartConflictException {
    String policy = "IdenticalWorkloadSchedulingRequirements";
    assertThat(entries(two("y", "1000m", policy))).containsExactly("5 a");
    assertThat(entries(two("x", "2", policy))).containsExactly("1 a", "4 b");
    given.with("/spec/podSets/1/template/spec/containers/0/ports", "[{containerPort: 80}]");
    given.with("/spec/podSets/1/template/spec/containers/0/resources/requests/cpu", "1");
    assertThat(entries(manifest("podSetMergePolicy: " + policy))).containsExactly("5 a");
    given.with(
        "/spec/podSets/1/template/spec/containers/0/ports", "[{containerPort: 80, hostPort: 80}]");
    assertThat(entries(manifest("podSetMergePolicy: " + policy))).containsExactly("1 a", "4 b");
  }

  @ParameterizedTest
  @CsvSource({
    "'containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]',"
        + " 'containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]', false",
    "'containers: [{resources: {limits: {cpu: 1}}}]',"
        + " 'containers: [{resources: {requests: {cpu: 1000m}, limits: {cpu: 1}}}]', true",
    "'containers: [{resources: {requests: {cpu: 1}, limits: {cpu: 2}}}]',"
        + " 'containers: [{resources: {requests: {cpu: 1}, limits: {cpu: 3}}}]', true",
    "'resources: {limits: {cpu: 1}}', 'resources: {limits: {cpu: 2}}', false",
    "'initContainers: [{resources: {limits: {cpu: 1}}}]',"
        + " 'initContainers: [{resources: {limits: {cpu: 2}}}]', false",
    "'initContainers: [{resources: {requests: {cpu: 1}}}]',"
        + " 'initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}]', false"
  })
  void limitsAndSidecarsMakeTemplatesScheduleUnlike(String one, String other, boolean alike)
      throws StartConflictException {
    two("x", "1", "");
    given.with("/spec/podSets/0/template/spec", one).with("/spec/podSets/1/template/spec", other);
    assertThat(
            entries(manifest("podSetMergePolicy: IdenticalWorkloadSchedulingRequirements")).size()
                == 1)
        .isEqualTo(alike);
  }

  @Test
  void podSetsOfDifferentFlavorsDontShareAnEntry() throws StartConflictException {
    two("x", "1", "");
    given.with("/status/admission/podSetAssignments/1/flavors", "{cpu: spot}");
    assertThat(entries(manifest("podSetMergePolicy: IdenticalPodTemplates")))
        .containsExactly("1 a", "4 b");
  }

  @Test
  void everyPodSetHasATemplateThatCanBeCreatedAgain() throws StartConflictException {
    RequestManifest manifest = two("x", "1", "");
    assertThat(RequestManifest.templates(given.workload(), given.json(), "wl-check-1", flavors))
        .isEqualTo(manifest.templates());
  }

  private static List<String> entries(RequestManifest manifest) {
    List<String> entries =
        manifest
            .request()
            .at("/spec/podSets")
            .valueStream()
            .map(
                it ->
                    it.path("count").asText()
                        + " "
                        + it.at("/podTemplateRef/name").asText().replace("ppt-wl-check-1-", ""))
            .toList();
    assertThat(manifest.templates()).hasSize(entries.size());
    return entries;
  }
}
