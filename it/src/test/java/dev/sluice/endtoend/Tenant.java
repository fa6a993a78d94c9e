package dev.sluice.endtoend;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A user with the rights of a tenant in one namespace, and there alone: the built-in ClusterRole
 * edit, the role of batch users, editing the kinds of jobs that the control plane doesn't know by
 * itself, and resizing pods. What is refused is told, not thrown. A kind is written as its version
 * and kind, such as {@code batch/v1/Job}.
 */
final class Tenant implements AutoCloseable {

  /** Whether policies of the API server hold the tenant. */
  enum Policies {
    /** As they are shipped. */
    HOLD,
    /**
     * They let the tenant pass for the operator and for controllers of the cluster, by rights of
     * those that no tenant has and this one doesn't use: what is behind the policies is tested.
     */
    PASS
  }

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String POD = "v1/Pod";
  private static final String BUSY = "busy";
  private static final int TOO_MANY = 429;
  private static final int MOST_LOGGED = 400;

  /** Without it a text that begins with a brace is read as JSON. */
  private static final String BEGINNING = "---\n";

  private static final Logger LOG = LoggerFactory.getLogger(Tenant.class);

  private final TestCluster cluster;
  private final String namespace;
  private final KubernetesClient client;

  /** Gives a user these rights in a namespace that exists; returns when they hold. */
  Tenant(TestCluster cluster, String namespace, Policies policies) {
    this.cluster = cluster;
    this.namespace = namespace;
    String more =
        policies == Policies.HOLD
            ? ""
            : "- {apiGroups: [kueue.x-k8s.io], resources: [workloads/status], verbs: [patch]}\n";
    if (policies == Policies.PASS) {
      cluster.applyText(
          """
          apiVersion: rbac.authorization.k8s.io/v1
          kind: ClusterRole
          metadata: {name: %1$s}
          rules:
          - {apiGroups: [batch, ray.io], resources: [jobs, rayclusters], verbs: [patch]}
          ---
          apiVersion: rbac.authorization.k8s.io/v1
          kind: ClusterRoleBinding
          metadata: {name: %1$s}
          roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %1$s}
          subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %1$s}]
          """
              .formatted(namespace));
    }
    cluster.applyText(
        """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: {name: tenant, namespace: %1$s}
        rules:
        - {apiGroups: [""], resources: [pods/resize], verbs: [get, patch, update]}
        - apiGroups:
          - argoproj.io
          - jobset.x-k8s.io
          - kubeflow.org
          - ray.io
          - sparkoperator.k8s.io
          - workload.codeflare.dev
          resources: ["*"]
          verbs: [get, list, create, update, patch, delete]
        %2$s---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: tenant, namespace: %1$s}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %1$s}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: tenant-edits, namespace: %1$s}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %1$s}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: tenant-queues, namespace: %1$s}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kueue-batch-user-role}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %1$s}]
        """
            .formatted(namespace, more));
    Config config =
        new ConfigBuilder(cluster.client().getConfiguration())
            .withImpersonateUsername(namespace)
            .withImpersonateGroups("system:authenticated")
            .build();
    client = new KubernetesClientBuilder().withConfig(config).build();
    await("rights of " + namespace)
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(() -> client.pods().inNamespace(namespace).list() != null);
  }

  /** Something that the API server may refuse. */
  private interface Request {
    void send();
  }

  /** What the API server answers; empty if it is done. What it has no time for is asked again. */
  private String answer(Request request) {
    return await("an answer of the API server to " + namespace)
        .atMost(LIMIT)
        .pollDelay(Duration.ZERO)
        .until(() -> answerOnce(request), answer -> !answer.equals(BUSY));
  }

  private String answerOnce(Request request) {
    try {
      request.send();
      return "";
    } catch (KubernetesClientException e) {
      String message = String.valueOf(e.getMessage());
      LOG.info(
          "tenant={} code={} refused=\"{}\"",
          namespace,
          e.getCode(),
          message.substring(0, Math.min(MOST_LOGGED, message.length())));
      boolean busy =
          e.getCode() == TOO_MANY || e.getCode() >= HttpURLConnection.HTTP_INTERNAL_ERROR;
      return busy ? BUSY : message;
    }
  }

  private static Resource<GenericKubernetesResource> resource(
      KubernetesClient as, String namespace, String kind, String name) {
    int slash = kind.lastIndexOf('/');
    return as.genericKubernetesResources(kind.substring(0, slash), kind.substring(slash + 1))
        .inNamespace(namespace)
        .withName(name);
  }

  private Resource<GenericKubernetesResource> resource(String kind, String name) {
    return resource(client, namespace, kind, name);
  }

  /** Makes an object. */
  String create(String yaml) {
    return answer(() -> client.resource(BEGINNING + yaml).inNamespace(namespace).create());
  }

  /** Merges JSON, written with single quotes, into an object. */
  String patch(String kind, String name, String json) {
    return answer(
        () ->
            resource(kind, name)
                .patch(PatchContext.of(PatchType.JSON_MERGE), json.replace('\'', '"')));
  }

  /** The same with YAML. */
  String merge(String kind, String name, String yaml) {
    return answer(
        () ->
            resource(kind, name)
                .patch(
                    PatchContext.of(PatchType.JSON_MERGE),
                    Serialization.asJson(Serialization.unmarshal(BEGINNING + yaml, Object.class))));
  }

  /** Deletes an object. */
  String delete(String kind, String name, DeletionPropagation propagation, long graceSeconds) {
    return answer(
        () ->
            resource(kind, name)
                .withPropagationPolicy(propagation)
                .withGracePeriod(graceSeconds)
                .delete());
  }

  /** Sets the CPUs of a pod's first container while the pod runs. */
  String resize(JsonNode pod, int cpus) {
    String container = pod.at("/spec/containers/0/name").asText();
    String resized =
        """
        {"spec": {"containers": [{"name": "%s", "resources": {"requests": {"cpu": "%d"}}}]}}\
        """
            .formatted(container, cpus);
    return answer(
        () ->
            resource(POD, name(pod))
                .subresource("resize")
                .patch(PatchContext.of(PatchType.STRATEGIC_MERGE), resized));
  }

  /**
   * Reports, as the kubelet of a node that can resize pods does, what the containers of a pod
   * request: the API server asks for it before it lets anybody resize.
   */
  String reportResources(JsonNode pod) {
    ObjectNode patch = JSON.createObjectNode();
    JsonNode statuses = pod.at("/status/containerStatuses").deepCopy();
    for (JsonNode status : statuses) {
      ((ObjectNode) status).putObject("resources").putObject("requests").put("cpu", "1");
    }
    patch.putObject("status").set("containerStatuses", statuses);
    return answer(
        () ->
            resource(cluster.client(), namespace, POD, name(pod))
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), patch.toString()));
  }

  /** All objects of a kind. */
  List<JsonNode> all(String kind) {
    int slash = kind.lastIndexOf('/');
    return cluster
        .client()
        .genericKubernetesResources(kind.substring(0, slash), kind.substring(slash + 1))
        .inNamespace(namespace)
        .list()
        .getItems()
        .stream()
        .map(Tenant::tree)
        .toList();
  }

  /** The object, if it exists. */
  Optional<JsonNode> find(String kind, String name) {
    return Optional.ofNullable(resource(cluster.client(), namespace, kind, name).get())
        .map(Tenant::tree);
  }

  private static JsonNode tree(Object object) {
    return JSON.valueToTree(Serialization.unmarshal(Serialization.asJson(object), Object.class));
  }

  /** All pods. */
  List<JsonNode> pods() {
    return all(POD);
  }

  /** The pods that run. */
  List<JsonNode> running() {
    return pods().stream()
        .filter(pod -> pod.at("/status/phase").asText().equals("Running"))
        .filter(pod -> !pod.path("metadata").has("deletionTimestamp"))
        .toList();
  }

  /** Waits until at least so many pods run, and returns them. */
  List<JsonNode> awaitRunning(int pods) {
    return await(pods + " pods run in " + namespace)
        .atMost(LIMIT)
        .until(this::running, found -> found.size() >= pods);
  }

  /** The name of an object. */
  static String name(JsonNode object) {
    return object.at("/metadata/name").asText();
  }

  /** The namespace. */
  String namespace() {
    return namespace;
  }

  /** The cluster, with all rights, to look at what the tenant may not see. */
  TestCluster cluster() {
    return cluster;
  }

  @Override
  public void close() {
    client.close();
  }
}
