package dev.sluice.webhooks.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/**
 * Nobody answers where the webhooks are registered: a write that is asked about fails, and one that
 * isn't goes through.
 */
@ControlPlaneTest(exclusive = true, controllers = false)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag(BuildBreadth.NIGHTLY)
class WorkloadMatchConditionsIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String ASKED = "failed calling webhook";

  /** By the definition of the API, which is as good. */
  private static final String REFUSED = "is invalid";

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private static final String RESERVED =
      """
      {"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"",
       "lastTransitionTime":"2026-01-01T00:00:00Z"}\
      """;
  private static final String FINISHED =
      RESERVED.replace("QuotaReserved", "Finished").replace("Finished\",\"m", "Succeeded\",\"m");

  /** A Workload, and what is tried on it. */
  private record Try(String name, String before, String path, String patch, boolean asked) {}

  private static final List<Try> TRIES =
      List.of(
          status("finished", admission("a", 2, "4"), conditions(RESERVED, FINISHED), false),
          status("waiting", "{}", conditions(FINISHED), false),
          status("admitted", "{}", admission("a", 2, "4"), false),
          status("admitted-again-equal", admission("a", 2, "4"), admission("a", 2, "4"), false),
          status("taken-away", admission("a", 2, "4"), "{'admission':null,'conditions':[]}", false),
          status("reserved-without", "{}", conditions(RESERVED), true),
          status("taken-but-reserved", admission("a", 2, "4"), "{'admission':null}", true),
          status("other-admission", admission("a", 2, "4"), admission("a", 2, "6"), true),
          status("no-multiple", "{}", admission("a", 2, "3"), true),
          status("no-whole-number", "{}", admission("a", 2, "500m"), true),
          status("negative", "{}", admission("a", 2, "-4"), true),
          status("unknown-pod-set", "{}", admission("c", 2, "4"), true),
          status("reclaimable", "{}", "{'reclaimablePods':[{'name':'a','count':1}]}", true),
          status("cluster", "{}", "{'clusterName':'c','nominatedClusterNames':['c']}", true),
          status("nominated", "{}", "{'nominatedClusterNames':['c']}", false),
          status(
              "check",
              "{}",
              "{'admissionChecks':[{'name':'k','state':'Ready','message':'',"
                  + "'lastTransitionTime':'2026-01-01T00:00:00Z'}]}",
              true),
          new Try("spec", "{}", "", "{\"spec\":{\"queueName\":\"other\"}}", true),
          new Try("noted", "{}", "", "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}", true),
          new Try("labelled", "{}", "", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}", false),
          new Try(
              "parent",
              "{}",
              "",
              "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/concurrent-admission-parent\":\"true\"}}}",
              true),
          new Try("of-a-workload", "{}", "", owner("kueue.x-k8s.io/v1beta2", "Workload"), true),
          new Try("of-a-pod", "{}", "", owner("v1", "Pod"), false),
          new Try("held", "{}", "", "{\"metadata\":{\"finalizers\":[\"a.example/b\"]}}", false));

  private static Try status(String name, String before, String after, boolean asked) {
    return new Try(name, before, "status", "{\"status\":" + quoted(after) + "}", asked);
  }

  private static String owner(String apiVersion, String kind) {
    return quoted(
        "{'metadata':{'ownerReferences':[{'apiVersion':'%s','kind':'%s','name':'o','uid':'u'}]}}"
            .formatted(apiVersion, kind));
  }

  private static String quoted(String json) {
    return json.replace('\'', '"');
  }

  private static String conditions(String... conditions) {
    return "{\"conditions\":[" + String.join(",", conditions) + "]}";
  }

  private static String admission(String podSet, int count, String cpu) {
    return """
    {'conditions':[%s],'admission':{'clusterQueue':'q','podSetAssignments':[
      {'name':'%s','count':%d,'flavors':{'cpu':'f'},'resourceUsage':{'cpu':'%s'}}]}}\
    """
        .formatted(RESERVED, podSet, count, cpu);
  }

  @BeforeAll
  void install(TestCluster cluster) throws IOException {
    KubernetesClient client = cluster.client();
    define(client);
    for (Try each : TRIES) {
      client.resource(workload(client, each.name())).inNamespace(cluster.namespace()).create();
      if (!each.before().equals("{}")) {
        of(client, cluster, each).subresource("status").patch(MERGE, statusOf(each));
      }
    }
    WebhookConfigurations configurations =
        new WebhookConfigurations(
            new WebhookRegistration(
                new WebhookRegistration.Url("https://127.0.0.1:1"),
                "",
                "kueue-system",
                new WebhookRegistration.Kinds(Set.of("batch/job"), Set.of(), List.of()),
                Set.of(),
                Optional.empty(),
                Optional.of("somebody"),
                "Never"));
    client.resource(configurations.mutating()).create();
    client.resource(configurations.validating()).create();
    await().atMost(LIMIT).until(() -> isAskedAboutCreation(cluster));
  }

  private static String statusOf(Try each) {
    return "{\"status\":" + quoted(each.before()) + "}";
  }

  private static void define(KubernetesClient client) throws IOException {
    byte[] file = Files.readAllBytes(Path.of("crds", "kueue.x-k8s.io_workloads.yaml"));
    client.load(new ByteArrayInputStream(file)).items().forEach(it -> client.resource(it).create());
    await()
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(
            () ->
                client
                    .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
                    .inAnyNamespace()
                    .list()
                    .getItems()
                    .isEmpty());
  }

  private static boolean isAskedAboutCreation(TestCluster cluster) {
    try (KubernetesClient client = ApiClients.once(cluster.kubeconfig())) {
      client
          .resource(workload(client, "probe"))
          .inNamespace(cluster.namespace())
          .dryRun(true)
          .create();
      return false;
    } catch (KubernetesClientException e) {
      return String.valueOf(e.getMessage()).contains(ASKED);
    }
  }

  private static HasMetadata workload(KubernetesClient client, String name) {
    String podSet =
        """
        {"name":"%s","count":2,"template":{"spec":{"restartPolicy":"Never","containers":
          [{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}\
        """;
    String json =
        """
        {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"%s"},
         "spec":{"queueName":"q","podSets":[%s]}}\
        """
            .formatted(name, podSet.formatted("a"));
    return client
        .load(new ByteArrayInputStream(json.getBytes(StandardCharsets.UTF_8)))
        .items()
        .getFirst();
  }

  private static Resource<GenericKubernetesResource> of(
      KubernetesClient client, TestCluster cluster, Try each) {
    return client
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(cluster.namespace())
        .withName(each.name());
  }

  @TestFactory
  Stream<DynamicTest> onlyWhatRulesMayObjectToIsAskedAbout(TestCluster cluster) {
    return TRIES.stream()
        .map(
            each ->
                DynamicTest.dynamicTest(
                    each.name(),
                    () ->
                        assertThat(outcome(cluster, each))
                            .as(each.patch())
                            .isEqualTo(expected(each))));
  }

  private static String expected(Try each) {
    return each.asked() ? "asked" : "written";
  }

  private static String outcome(TestCluster cluster, Try each) {
    try (KubernetesClient client = ApiClients.once(cluster.kubeconfig())) {
      Resource<GenericKubernetesResource> resource = of(client, cluster, each);
      if (each.path().isEmpty()) {
        resource.patch(MERGE, each.patch());
      } else {
        resource.subresource(each.path()).patch(MERGE, each.patch());
      }
      return "written";
    } catch (KubernetesClientException e) {
      String message = String.valueOf(e.getMessage());
      return message.contains(ASKED) || message.contains(REFUSED) ? "asked" : message;
    }
  }
}
