package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.MultiKueue;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.sync.WorkloadStateReader.ManagedByCheck;
import dev.sluice.jobs.madeup.Task;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs of every kind as they are described. */
class MultiKueueKindsTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final OriginLabel MARK = new OriginLabel("here", true);

  private static ObjectNode json(String text) throws Exception {
    return (ObjectNode) new ObjectMapper().readTree(text.replace('\'', '"'));
  }

  private static MultiKueueKind kind(String name) {
    return MultiKueueKinds.beside(List.of(), List.of(), true).all().stream()
        .filter(kind -> kind.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          Job.v1.batch | jobs | {'managedBy': M} | {'suspend': true}
          JobSet.v1alpha2.jobset.x-k8s.io | jobsets | {'managedBy': M} | {'suspend': true}
          PyTorchJob.v1.kubeflow.org | pytorchjobs | {'runPolicy': {'managedBy': M}} | {'runPolicy': {'suspend': true}}
          TFJob.v1.kubeflow.org | tfjobs | {'runPolicy': {'managedBy': M}} | {'runPolicy': {'suspend': true}}
          XGBoostJob.v1.kubeflow.org | xgboostjobs | {'runPolicy': {'managedBy': M}} | {'runPolicy': {'suspend': true}}
          PaddleJob.v1.kubeflow.org | paddlejobs | {'runPolicy': {'managedBy': M}} | {'runPolicy': {'suspend': true}}
          JAXJob.v1.kubeflow.org | jaxjobs | {'runPolicy': {'managedBy': M}} | {'runPolicy': {'suspend': true}}
          MPIJob.v2beta1.kubeflow.org | mpijobs | {'runPolicy': {'managedBy': M}} | {'runPolicy': {'suspend': true}}
          TrainJob.v1alpha1.trainer.kubeflow.org | trainjobs | {'managedBy': M, 'runtimePatches': [{'manager': 'kueue.x-k8s.io/manager'}]} | {'suspend': true}
          TrainJob.v1alpha1.trainer.kubeflow.org | trainjobs | {'managedBy': M, 'runtimePatches': [{'manager': 'x'}, {'manager': 'kueue.x-k8s.io/manager'}]} | {'suspend': true, 'runtimePatches': [{'manager': 'x'}]}
          RayJob.v1.ray.io | rayjobs | {'managedBy': M} | {'suspend': true}
          RayCluster.v1.ray.io | rayclusters | {'managedBy': M} | {'suspend': true}
          RayService.v1.ray.io | rayservices | {'rayClusterConfig': {'managedBy': M}} | {'rayClusterConfig': {'suspend': true}}
          RayService.v1.ray.io | rayservices | {'managedBy': M} | {'rayClusterConfig': {'suspend': true}}
          AppWrapper.v1beta2.workload.codeflare.dev | appwrappers | {'managedBy': M} | {'suspend': true}
          """)
  void aMarkedJobIsSentSuspendedAndWithoutTheMark(
      String name, String plural, String spec, String sent) throws Exception {
    ObjectNode job =
        json(
            "{'metadata': {'name': 'a', 'namespace': 'n', 'uid': 'u'}, 'spec': "
                + spec.replace("M", "'kueue.x-k8s.io/multikueue'")
                + "}");
    MultiKueueKind kind = kind(name);

    assertThat(kind.plural()).isEqualTo(plural);
    assertThat(ManagedByCheck.sendable(kind, job)).isEqualTo(new ManagerState.Sendable.Yes());
    JsonNode copy = RemoteJobFactory.copy(kind, job, "w", MARK);
    assertThat(copy.path("spec")).isEqualTo(json(sent));
    assertThat(kind.isStarted(job)).isTrue();
    assertThat(RemoteJobFactory.copy(kind, kind.unstarted(job, json("{}")), "w", MARK))
        .isEqualTo(copy);
    assertThat(copy.path("kind").asText() + "." + copy.path("apiVersion").asText())
        .isEqualTo(kind.kind() + "." + kind.group() + "/" + kind.version());
    assertThat(copy.path("metadata"))
        .isEqualTo(
            json(
                """
                {'name': 'a', 'namespace': 'n',
                 'labels': {'kueue.x-k8s.io/multikueue-origin': 'here'},
                 'annotations': {'kueue.x-k8s.io/prebuilt-workload-name': 'w'}}
                """));
  }

  @Test
  void aJobOfItsOwnControllerIsNotSent() throws Exception {
    JsonNode job = json("{'spec': {'runPolicy': {'managedBy': 'kubeflow.org/training-operator'}}}");

    assertThat(ManagedByCheck.sendable(kind("TFJob.v1.kubeflow.org"), job))
        .isEqualTo(
            new ManagerState.Sendable.No(
                "spec.runPolicy.managedBy is \"kubeflow.org/training-operator\"; allowed for jobs"
                    + " that are sent to worker clusters: kueue.x-k8s.io/multikueue"));
  }

  @Test
  void aStatusOfAnotherKindThanJobIsCopiedAtAnyTimeAndWhole() throws Exception {
    MultiKueueKind kind = kind("JobSet.v1alpha2.jobset.x-k8s.io");
    JsonNode local = json("{'spec': {'suspend': true}, 'status': {'restarts': 3}}");
    JsonNode remote =
        json("{'spec': {'suspend': false}, 'status': {'replicatedJobsStatus': [{'active': 1}]}}");

    RemoteJobFactory.StatusUpdate mirrored =
        RemoteJobFactory.withRemoteStatus(kind, local, remote, NOW);

    assertThat(mirrored.heldBack()).isFalse();
    assertThat(mirrored.patch().path("status"))
        .isEqualTo(json("{'restarts': null, 'replicatedJobsStatus': [{'active': 1}]}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          JobSet.v1alpha2.jobset.x-k8s.io | {'replicatedJobsStatus': [{'active': 1}], 'restarts': 1} | {'replicatedJobsStatus': null}
          TFJob.v1.kubeflow.org | {'replicaStatuses': {'Worker': {'active': 1}}} | {'replicaStatuses': null}
          TrainJob.v1alpha1.trainer.kubeflow.org | {'jobsStatus': [{'active': 1}]} | {'jobsStatus': null}
          RayJob.v1.ray.io | {'jobStatus': 'RUNNING', 'jobDeploymentStatus': 'Running', 'jobId': 'x'} | {'jobDeploymentStatus': null, 'jobStatus': null}
          RayCluster.v1.ray.io | {'state': 'ready', 'readyWorkerReplicas': 0} | {'state': null, 'readyWorkerReplicas': null}
          RayService.v1.ray.io | {'conditions': [{'type': 'Ready', 'status': 'True'}, {'type': 'x'}]} | {'conditions': [{'type': 'x'}]}
          AppWrapper.v1beta2.workload.codeflare.dev | {'conditions': [{'type': 'QuotaReserved', 'status': 'True'}]} | {'conditions': []}
          AppWrapper.v1beta2.workload.codeflare.dev | {'phase': 'Running'} | {'phase': null}
          """)
  void aJobOfALostWorkerTellsOfNoPodsOnceItIsSuspended(String name, String status, String then)
      throws Exception {
    MultiKueueKind kind = kind(name);
    String suspended =
        kind.suspend().reversed().stream()
            .reduce("true", (inner, field) -> "{'" + field + "': " + inner + "}");
    JsonNode job = json(suspended.replaceFirst("}$", ", 'status': " + status + "}"));

    assertThat(RemoteJobFactory.withoutPodCounts(kind, job, NOW).path("status"))
        .isEqualTo(json(then));
    assertThat(RemoteJobFactory.withoutPodCounts(kind, json("{'status': " + status + "}"), NOW))
        .isEmpty();
  }

  @Test
  void whatARayServiceServesIsBroughtToTheWorkerUnlessTheGateIsOff() throws Exception {
    JsonNode local = json("{'spec': {'serveConfigV2': 'new', 'rayClusterConfig': {'a': 1}}}");
    JsonNode remote = json("{'spec': {'serveConfigV2': 'old', 'rayClusterConfig': {'a': 2}}}");
    MultiKueueKind kind = kind("RayService.v1.ray.io");

    assertThat(RemoteJobFactory.pushed(kind, local, remote))
        .isEqualTo(json("{'spec': {'serveConfigV2': 'new'}}"));
    assertThat(RemoteJobFactory.pushed(kind, local, local)).isEmpty();
    assertThat(RemoteJobFactory.pushed(kind, json("{}"), remote))
        .isEqualTo(json("{'spec': {'serveConfigV2': null}}"));
    // without the gate MultiKueueRemoteSpecSync
    MultiKueueKind without =
        MultiKueueKinds.beside(List.of(), List.of(), false)
            .find("ray.io/v1", "RayService")
            .orElseThrow();
    assertThat(RemoteJobFactory.pushed(without, local, remote)).isEmpty();
  }

  @Test
  void aPodIsSentWithoutWhatThisClusterWroteIntoIt() throws Exception {
    JsonNode pod =
        json(
            """
            {'metadata': {'name': 'a', 'namespace': 'n', 'uid': 'u', 'finalizers': ['f'],
               'generateName': 'a-', 'ownerReferences': [{'kind': 'ReplicaSet'}],
               'labels': {'kueue.x-k8s.io/managed': 'true'}, 'annotations': {'x': 'y'}},
             'spec': {'priority': 7, 'preemptionPolicy': 'Never', 'priorityClassName': 'p',
               'overhead': {'cpu': '1'}, 'serviceAccountName': 'default', 'nodeSelector': {'a': 'b'},
               'schedulingGates': [{'name': 'kueue.x-k8s.io/admission'}, {'name': 'mine'},
                 {'name': 'kueue.x-k8s.io/topology'}],
               'volumes': [{'name': 'kube-api-access-x1'}, {'name': 'data'}],
               'containers': [{'name': 'c', 'volumeMounts': [{'name': 'kube-api-access-x1'}]}]},
             'status': {'phase': 'Pending'}}
            """);

    assertThat(ManagedByCheck.sendable(MultiKueueKinds.POD, pod))
        .isEqualTo(new ManagerState.Sendable.Yes());
    assertThat(RemoteJobFactory.copy(MultiKueueKinds.POD, pod, "w", MARK))
        .isEqualTo(
            json(
                """
                {'apiVersion': 'v1', 'kind': 'Pod',
                 'metadata': {'name': 'a', 'namespace': 'n',
                   'labels': {'kueue.x-k8s.io/managed': 'true',
                     'kueue.x-k8s.io/multikueue-origin': 'here'},
                   'annotations': {'x': 'y', 'kueue.x-k8s.io/prebuilt-workload-name': 'w'}},
                 'spec': {'priorityClassName': 'p', 'serviceAccountName': 'default',
                   'nodeSelector': {'a': 'b'}, 'schedulingGates': [{'name': 'mine'}],
                   'volumes': [{'name': 'kube-api-access-x1'}, {'name': 'data'}],
                   'containers': [{'name': 'c', 'volumeMounts': [{'name': 'kube-api-access-x1'}]}]}}
                """));
    assertThat(MultiKueueKinds.POD.path("n", "a")).isEqualTo("api/v1/namespaces/n/pods/a");
    assertThat(MultiKueueKinds.POD.everywhere()).isEqualTo("api/v1/pods");
    assertThat(MultiKueueKinds.POD.name()).isEqualTo("Pod.v1");
  }

  /** Their kinds say so themselves. */
  @ParameterizedTest
  @ValueSource(strings = {"RayCluster.v1.ray.io", "RayJob.v1.ray.io", "RayService.v1.ray.io"})
  void whatTheManagerTellsOfTheSizeOfARayClusterIsNotSent(String name) throws Exception {
    JsonNode job =
        json(
            """
            {'metadata': {'name': 'a', 'namespace': 'n', 'annotations': {'x': 'y',
              'kueue.x-k8s.io/raycluster-generation': '3',
              'kueue.x-k8s.io/raycluster-podset-replica-sizes': '[]'}}, 'spec': {}}
            """);
    assertThat(RemoteJobFactory.copy(kind(name), job, "w", MARK).at("/metadata/annotations"))
        .isEqualTo(json("{'x': 'y', 'kueue.x-k8s.io/prebuilt-workload-name': 'w'}"));
  }

  @Test
  void aPodThatNoGateHoldsHereIsNotSent() throws Exception {
    assertThat(
            ManagedByCheck.sendable(
                MultiKueueKinds.POD, json("{'metadata': {'name': 'a'}, 'spec': {}}")))
        .isEqualTo(
            new ManagerState.Sendable.No(
                "spec.schedulingGates of pod a has no kueue.x-k8s.io/admission; it may run in this"
                    + " cluster, and isn't sent"));
  }

  @Test
  void aStatefulSetIsSentWithTheUidFromWhichItsWorkloadsNameComes() throws Exception {
    JsonNode set =
        json(
            """
            {'metadata': {'name': 'web', 'namespace': 'n', 'uid': 'u'},
             'spec': {'replicas': 2, 'template': {'spec': {'containers': []}}}}
            """);

    assertThat(ManagedByCheck.sendable(kind("StatefulSet.v1.apps"), set))
        .isEqualTo(new ManagerState.Sendable.Yes());
    JsonNode copy = RemoteJobFactory.copy(kind("StatefulSet.v1.apps"), set, "w", MARK);
    assertThat(copy.path("spec")).isEqualTo(set.path("spec"));
    assertThat(copy.path("metadata"))
        .isEqualTo(
            json(
                """
                {'name': 'web', 'namespace': 'n',
                 'labels': {'kueue.x-k8s.io/multikueue-origin': 'here'},
                 'annotations': {'kueue.x-k8s.io/multikueue-origin-uid': 'u',
                   'kueue.x-k8s.io/prebuilt-workload-name': 'w'}}
                """));
  }

  @Test
  void aConfiguredKindIsSentAsItIs() throws Exception {
    // with the gate MultiKueueAdaptersForCustomJobs
    MultiKueueKind kind =
        MultiKueueKinds.beside(List.of(), List.of("Flow.v1.example.org"), true)
            .find("example.org/v1", "Flow")
            .orElseThrow();
    JsonNode job =
        json(
            """
            {'metadata': {'name': 'a', 'namespace': 'n'},
             'spec': {'managedBy': 'kueue.x-k8s.io/multikueue', 'suspend': false, 'x': [1]}}
            """);

    assertThat(kind.path("n", "a")).isEqualTo("apis/example.org/v1/namespaces/n/flows/a");
    assertThat(ManagedByCheck.sendable(kind, job)).isEqualTo(new ManagerState.Sendable.Yes());
    assertThat(RemoteJobFactory.copy(kind, job, "w", MARK).path("spec"))
        .isEqualTo(json("{'suspend': false, 'x': [1]}"));
    assertThat(RemoteJobFactory.withoutPodCounts(kind, json("{'status': {'active': 1}}"), NOW))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "Flow, flows",
    "Process, processes",
    "Mesh, meshes",
    "Policy, policies",
    "Gateway, gateways"
  })
  void thePluralOfAConfiguredKindIsTheUsualOne(String kind, String plural) {
    assertThat(MultiKueueKinds.external(kind + ".v1.example.org").plural()).isEqualTo(plural);
  }

  @Test
  void aKindIsFoundByGroupAndKindInAnyVersion() {
    MultiKueueKinds kinds = MultiKueueKinds.beside(List.of(), List.of(), true);

    assertThat(kinds.find("kubeflow.org/v1", "MPIJob").map(MultiKueueKind::name))
        .hasValue("MPIJob.v2beta1.kubeflow.org");
    assertThat(kinds.find("example.org/v1", "MPIJob")).isEmpty();
    assertThat(kinds.find("v1", "Pod")).hasValue(MultiKueueKinds.POD);
    assertThat(kinds.find("apps/v1", "StatefulSet")).hasValue(kind("StatefulSet.v1.apps"));
    assertThat(kinds.find("example.org/v1", "Pod")).isEmpty();
    assertThat(kinds.find("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"))
        .hasValue(kind("LeaderWorkerSet.v1.leaderworkerset.x-k8s.io"));
    assertThat(kinds.find("sparkoperator.k8s.io/v1beta2", "SparkApplication")).isEmpty();
  }

  @Test
  void noKindThatIsDescribedHereCanBeConfigured() {
    assertThat(MultiKueue.BUILT_IN)
        .containsAll(
            MultiKueueKinds.beside(List.of(), List.of(), true).all().stream()
                .filter(kind -> !kind.group().isEmpty())
                .map(kind -> kind.kind() + "." + kind.group())
                .toList());
  }

  @Test
  void aKindThatIsAddedIsSentAndTellsItsStatus() throws Exception {
    MultiKueueKind kind =
        MultiKueueKinds.of(List.of(new Task()), List.of(), true)
            .find("example.com/v1", "Task")
            .orElseThrow();
    JsonNode job =
        json(
            """
            {'metadata': {'name': 'a', 'namespace': 'n'},
             'spec': {'managedBy': 'kueue.x-k8s.io/multikueue', 'suspend': false, 'pods': 2}}
            """);

    assertThat(kind.path("n", "a")).isEqualTo("apis/example.com/v1/namespaces/n/tasks/a");
    assertThat(ManagedByCheck.sendable(kind, job)).isEqualTo(new ManagerState.Sendable.Yes());
    assertThat(RemoteJobFactory.copy(kind, job, "w", MARK).path("spec"))
        .isEqualTo(json("{'suspend': true, 'pods': 2}"));
    assertThat(
            RemoteJobFactory.withRemoteStatus(kind, job, json("{'status': {'running': true}}"), NOW)
                .patch()
                .path("status"))
        .isEqualTo(json("{'running': true}"));
  }
}
