package dev.sluice.jobs.kinds.appwrapper;

import static dev.sluice.jobs.GivenObject.infos;
import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.started;
import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An AppWrapper as the integration sees it. */
class AppWrapperTest {

  private static final ObjectNode WRAPPER =
      yaml(
          """
          apiVersion: workload.codeflare.dev/v1beta2
          kind: AppWrapper
          metadata: {name: train, namespace: team, uid: u}
          spec:
            suspend: true
            components:
            - template: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}
            - template:
                apiVersion: batch/v1
                kind: Job
                metadata: {name: prepare}
                spec:
                  parallelism: 4
                  completions: 2
                  template:
                    metadata: {labels: {app: a}}
                    spec:
                      priorityClassName: high
                      nodeSelector: {disk: fast}
                      containers: [{name: c, image: i}]
            - podSets:
              - path: template.spec.groups[0].template
              - path: template.spec.groups[1].template
                replicas: 3
                annotations:
                  workload.codeflare.dev.appwrapper/tas-pod-index-label: place
                  workload.codeflare.dev.appwrapper/tas-sub-group-index-label: group
                  workload.codeflare.dev.appwrapper/tas-sub-group-count: "2"
              template:
                apiVersion: example.org/v1
                kind: Flow
                metadata: {name: flow}
                spec:
                  groups:
                  - template: {spec: {containers: [{name: one, image: i}]}}
                  - template:
                      metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}
                      spec: {containers: [{name: two, image: i}]}
          """);
  private static final String INFOS = "/podSetInfos";

  private final AppWrapper kind = new AppWrapper();

  private JobState state(String status) {
    return kind.state(status(with(WRAPPER, "{spec: {suspend: false}}"), status));
  }

  @Test
  void aPodSetForEveryPodSetOfEveryComponent() {
    assertThat(podSets(kind, WRAPPER)).containsExactly("train-0=2", "train-1=1", "train-2=3");
    assertThat(kind.podSets(WRAPPER).get(0).template().at("/metadata/labels/app").asText())
        .isEqualTo("a");
    assertThat(kind.podSets(WRAPPER).get(2).template().at("/spec/containers/0/name").asText())
        .isEqualTo("two");
    assertThat(kind.priorityClass(WRAPPER)).isEmpty();
  }

  @Test
  void theAnnotationsOfAPodSetSayHowPodsTellTheirPlace() {
    assertThat(kind.podSets(WRAPPER).get(1).topologyRequest()).isEmpty();
    assertThat(kind.podSets(WRAPPER).get(2).topologyRequest())
        .contains(
            yaml(
                """
                required: rack
                podIndexLabel: place
                subGroupIndexLabel: group
                subGroupCount: 2
                """));
  }

  private static ObjectNode wrapping(String version, String kind, String spec) {
    ObjectNode wrapper = yaml("{metadata: {name: w}, spec: {}}");
    wrapper
        .withObjectProperty("spec")
        .putArray("components")
        .addObject()
        .set(
            "template",
            yaml("{apiVersion: %s, kind: %s, spec: %s}".formatted(version, kind, spec)));
    return wrapper;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          v1 | Pod | '{x: x}' | w-0=1
          apps/v1 | Deployment | '{template: {spec: {x: x}}}' | w-0=1
          apps/v1 | StatefulSet | '{replicas: 3, template: {spec: {x: x}}}' | w-0=3
          batch/v1 | Job | '{template: {spec: {x: x}}}' | w-0=1
          batch/v1 | Job | '{parallelism: 2, completions: 5, template: {spec: {x: x}}}' | w-0=2
          jobset.x-k8s.io/v1alpha2 | JobSet | '{replicatedJobs: [{replicas: 2, template: {spec: {parallelism: 3, template: {spec: {x: x}}}}}, {template: {spec: {template: {spec: {x: x}}}}}]}' | w-0=6 w-1=1
          kubeflow.org/v1 | PyTorchJob | '{pytorchReplicaSpecs: {Worker: {replicas: 2, template: {spec: {x: x}}}, Master: {template: {spec: {x: x}}}}}' | w-0=1 w-1=2
          kubeflow.org/v1 | PyTorchJob | '{pytorchReplicaSpecs: {Worker: {replicas: 2, template: {spec: {x: x}}}}}' | w-0=2
          ray.io/v1 | RayCluster | '{headGroupSpec: {template: {spec: {x: x}}}, workerGroupSpecs: [{replicas: 2, numOfHosts: 2, template: {spec: {x: x}}}, {template: {spec: {x: x}}}]}' | w-0=1 w-1=4 w-2=1
          ray.io/v1 | RayJob | '{rayClusterSpec: {headGroupSpec: {template: {spec: {x: x}}}, workerGroupSpecs: [{replicas: 2, template: {spec: {x: x}}}]}}' | w-0=1 w-1=2
          v1 | Service | '{template: {spec: {x: x}}}' | ''
          example.org/v1 | Job | '{template: {spec: {x: x}}}' | ''
          """)
  void podSetsOfKnownKindsAreInferred(String version, String name, String spec, String podSets) {
    ObjectNode wrapper = wrapping(version, name, spec);

    assertThat(String.join(" ", podSets(kind, wrapper))).isEqualTo(podSets);
    assertThat(kind.podSets(wrapper))
        .allSatisfy(it -> assertThat(it.template().at("/spec/x").asText()).isEqualTo("x"));
  }

  @Test
  void inferredPodSetsHaveTheLabelsOfTheirKind() {
    String template =
        "{metadata: {annotations: {kueue.x-k8s.io/podset-preferred-topology: r}}, spec: {x: x}}";

    assertThat(
            kind.podSets(
                    wrapping(
                        "jobset.x-k8s.io/v1alpha2",
                        "JobSet",
                        "{replicatedJobs: [{replicas: 2, template: {spec: {template: %s}}}]}"
                            .formatted(template)))
                .getFirst()
                .topologyRequest())
        .contains(
            yaml(
                """
                preferred: r
                podIndexLabel: batch.kubernetes.io/job-completion-index
                subGroupIndexLabel: jobset.sigs.k8s.io/job-index
                subGroupCount: 2
                """));
    assertThat(
            kind.podSets(wrapping("apps/v1", "Deployment", "{template: " + template + "}"))
                .getFirst()
                .topologyRequest())
        .contains(yaml("{preferred: r}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{spec: 7}",
        "{spec: {components: {a: b}, suspend: []}, status: []}",
        "{spec: {components: [7, null, [], {template: x, podSetInfos: 3}]}}",
        "{spec: {components: [{podSets: [7, null, {path: 3}, {path: 'a[99999999999]'}]}]}}",
        "{spec: {components: [{podSets: [{path: '..'}, {path: 'a[0][1]', replicas: -1}]}]}}",
        "{spec: {components: [{template: {apiVersion: jobset.x-k8s.io/v1, kind: JobSet,"
            + " spec: {replicatedJobs: [1, {replicas: 2147483647,"
            + " template: {spec: {parallelism: 9223372036854775807}}}]}}}]}}",
        "{status: {phase: 7, conditions: {a: b}}}"
      })
  void anythingCanBeRead(String object) throws StartConflictException {
    assertThat(kind.state(yaml(object)).end()).isEmpty();
    assertThat(kind.podSets(yaml(object))).allMatch(podSet -> podSet.template().isEmpty());
    assertThat(kind.start(yaml(object), infos(kind, yaml(object)))).isNotEmpty();
    assertThat(kind.nextStopStep(yaml(object), Optional.empty())).isPresent();
  }

  @Test
  void itIsActiveWhileItHasQuota() {
    assertThat(state("{}").active()).isFalse();
    assertThat(state("{conditions: [{type: QuotaReserved, status: 'True'}]}").active()).isTrue();
    assertThat(kind.state(WRAPPER).settled()).isTrue();
    assertThat(
            kind.state(status(WRAPPER, "{conditions: [{type: QuotaReserved, status: 'True'}]}"))
                .settled())
        .isFalse();
  }

  @Test
  void itIsReadyWhenItsConditionSaysSo() {
    assertThat(state("{conditions: [{type: PodsReady, status: 'False'}]}").podsReady()).isFalse();
    assertThat(state("{conditions: [{type: PodsReady, status: 'True'}]}").podsReady()).isTrue();
  }

  @Test
  void oneThatFailedEndsWhenWhatItCreatedIsGone() {
    assertThat(state("{phase: Running}").end()).isEmpty();
    assertThat(
            state("{phase: Succeeded, conditions: [{type: ResourcesDeployed, status: 'True'}]}")
                .end())
        .contains(new JobState.End(true, "AppWrapper finished successfully"));
    assertThat(
            state("{phase: Failed, conditions: [{type: ResourcesDeployed, status: 'True'}]}").end())
        .isEmpty();
    assertThat(
            state("{phase: Failed, conditions: [{type: ResourcesDeployed, status: 'False'}]}")
                .end())
        .contains(new JobState.End(false, "AppWrapper failed"));
  }

  @Test
  void aStartIsWrittenForEveryPodSetAndAStopTakesItBack() throws StartConflictException {
    ObjectNode started = started(kind, WRAPPER);

    assertThat(started.at("/spec/suspend").asBoolean()).isFalse();
    assertThat(started.at("/spec/components/0").has("podSetInfos")).isFalse();
    assertThat(started.at("/spec/components/1" + INFOS))
        .containsExactly(
            yaml(
                """
                annotations: {kueue.x-k8s.io/workload: w}
                labels: {kueue.x-k8s.io/podset: train-0}
                nodeSelector: {pool: of-train-0}
                tolerations: [{key: spot, operator: Exists}]
                schedulingGates: [{name: kueue.x-k8s.io/topology}]
                """));
    assertThat(started.at("/spec/components/2" + INFOS).findValuesAsText("pool"))
        .containsExactly("of-train-1", "of-train-2");
    for (int i = 0; i < 3; i++) {
      String template = "/spec/components/" + i + "/template";
      assertThat(started.at(template)).isEqualTo(WRAPPER.at(template));
    }
    assertThat(kind.podSets(started)).isEqualTo(kind.podSets(WRAPPER));
    assertThat(kind.state(started).stopUnfinished()).isFalse();
    assertThat(stopped(kind, started, Optional.of(kind.podSets(WRAPPER)))).isEqualTo(WRAPPER);
  }

  @Test
  void aStartOfATemplateWithOtherValuesFails() {
    ObjectNode other =
        yaml(WRAPPER.toString().replace("\"disk\":\"fast\"", "\"pool\":\"of-somebody\""));

    assertThatThrownBy(() -> kind.start(other, infos(kind, other)))
        .isInstanceOf(StartConflictException.class)
        .hasMessageContaining("nodeSelector[pool]");
    assertThatThrownBy(() -> kind.start(yaml("{spec: {}}"), infos(kind, WRAPPER)))
        .isInstanceOf(StartConflictException.class);
  }

  @Test
  void aStartedJobThatSomebodySuspendsIsRestored() throws StartConflictException {
    ObjectNode suspended = with(started(kind, WRAPPER), "{spec: {suspend: true}}");

    assertThat(kind.state(suspended).stopUnfinished()).isTrue();
    assertThat(stopped(kind, suspended, Optional.empty())).isEqualTo(WRAPPER);
  }

  @Test
  void whatTheRestOfTheOperatorHasToKnow() {
    assertThat(kind.kind().framework()).isEqualTo("workload.codeflare.dev/appwrapper");
    assertThat(kind.kind().plural()).isEqualTo("appwrappers");
    assertThat(kind.webhooks().review())
        .isEqualTo(
            new WebhookRules.Review.SuspendField(
                List.of("spec", "suspend"),
                List.of("spec", "managedBy"),
                "workload.codeflare.dev/appwrapper-controller"));
    assertThat(kind.multiKueue().orElseThrow().status().podConditions())
        .containsExactly("QuotaReserved", "ResourcesDeployed", "PodsReady");
  }

  private static ObjectNode declaring(String version, String name, String spec, String podSets) {
    ObjectNode wrapper = wrapping(version, name, spec);
    ((ObjectNode) wrapper.at("/spec/components/0"))
        .set("podSets", yaml("{list: " + podSets + "}").get("list"));
    return wrapper;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          batch/v1 | Job | '{parallelism: 50, template: {spec: {}}}' | '[{path: template.spec.template, replicas: 1}]' | .podSets
          batch/v1 | Job | '{parallelism: 2, template: {spec: {}}}' | '[{path: template.spec.template, replicas: 2}, {path: template, replicas: 0}]' | .podSets
          apps/v1 | ReplicaSet | '{replicas: 50, template: {spec: {}}}' | '[{path: template.spec.template}]' | .podSets
          apps/v1 | ReplicaSet | '{replicas: 50, template: {spec: {}}}' | '[]' | .podSets
          batch/v1 | CronJob | '{}' | '[]' | .podSets
          kubeflow.org/v1 | MPIJob | '{}' | '[]' | .podSets
          example.org/v1 | Flow | '{a: {spec: {}}}' | '[{path: template.spec.a}, {path: template.spec.b, replicas: 9}]' | .podSets[1].path
          example.org/v1 | Flow | '{a: {}}' | '[{path: template.spec.a}]' | .podSets[0].path
          kubeflow.org/v1 | PyTorchJob | '{pytorchReplicaSpecs: {Worker: {}, worker: {}}}' | '[]' | .template.spec.pytorchReplicaSpecs[worker]
          """)
  void componentsThatMakeOtherPodsThanTheyDeclareAreRefusedAndHeld(
      String version, String name, String spec, String podSets, String path) {
    ObjectNode wrapper = declaring(version, name, spec, podSets);
    assertThat(kind.validate(wrapper, false))
        .extracting(InvalidField::path)
        .containsExactly("spec.components[0]" + path);
    assertThat(kind.state(wrapper).handling().hold())
        .get()
        .asString()
        .startsWith("What the job runs can't be counted: spec.components[0]" + path);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          batch/v1 | Job | '{parallelism: 2, template: {spec: {}}}' | '[{path: template.spec.template, replicas: 2}]'
          apps/v1 | ReplicaSet | '{replicas: 5, template: {spec: {}}}' | '[{path: template.spec.template, replicas: 5}]'
          v1 | ConfigMap | '{}' | '[]'
          example.org/v1 | Flow | '{}' | '[]'
          kubeflow.org/v1 | MPIJob | '{mpiReplicaSpecs: {Worker: {template: {spec: {}}}}}' | '[{path: template.spec.mpiReplicaSpecs.Worker.template, replicas: 3}]'
          """)
  void otherComponentsAreTaken(String version, String name, String spec, String podSets) {
    ObjectNode wrapper = declaring(version, name, spec, podSets);
    assertThat(kind.validate(wrapper, false)).isEmpty();
    assertThat(kind.validate(WRAPPER, false)).isEmpty();
    assertThat(kind.state(wrapper).handling().hold()).isEmpty();
  }
}
