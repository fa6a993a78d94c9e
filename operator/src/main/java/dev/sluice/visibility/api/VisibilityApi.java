package dev.sluice.visibility.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import java.util.List;
import java.util.Locale;

/**
 * The group {@code visibility.kueue.x-k8s.io}: its versions, resources, and the documents by which
 * clients discover them.
 */
public final class VisibilityApi {

  /** The API group. */
  public static final String GROUP = "visibility.kueue.x-k8s.io";

  /** The versions, the preferred one first; they differ in their names only. */
  public static final List<String> VERSIONS = List.of("v1beta2", "v1beta1");

  /** The subresource of ClusterQueues and LocalQueues. */
  public static final String PENDING_WORKLOADS = "pendingworkloads";

  /**
   * The subresource of Workloads that says why one waits. It is not of the API and not discovered.
   */
  public static final String EXPLANATION = "explanation";

  /**
   * The resource that says what would become of a job that doesn't exist. It is not of the API and
   * not discovered.
   */
  public static final String SIMULATIONS = "simulations";

  /**
   * The resource that says what was used, of all namespaces or one. It is not of the API and not
   * discovered.
   */
  public static final String USAGE = "usage";

  /**
   * The resource that says when quota is at another factor than 1. It is not of the API and not
   * discovered.
   */
  public static final String QUOTA_SCHEDULES = "quotaschedules";

  /** The parameter of a query that asks for expected starts. */
  public static final String ESTIMATES = "estimates";

  private static final String SUMMARY = "PendingWorkloadsSummary";
  private static final String STRING = "string";
  private static final String INTEGER = "integer";
  private static final String BOOLEAN = "boolean";

  private VisibilityApi() {}

  /** The groups of this server, at {@code /apis}. */
  public static ObjectNode groups() {
    ObjectNode list = kind("APIGroupList", "v1");
    list.withArray("groups").add(group());
    return list;
  }

  /** The group, at {@code /apis/GROUP}. */
  public static ObjectNode group() {
    ObjectNode group = kind("APIGroup", "v1").put("name", GROUP);
    for (String version : VERSIONS) {
      group
          .withArray("versions")
          .addObject()
          .put("groupVersion", GROUP + "/" + version)
          .put("version", version);
    }
    group.set("preferredVersion", group.path("versions").get(0));
    return group;
  }

  /** The resources of a version, at {@code /apis/GROUP/VERSION}. */
  public static ObjectNode resources(String version) {
    ObjectNode list = kind("APIResourceList", "v1").put("groupVersion", GROUP + "/" + version);
    ArrayNode resources = list.putArray("resources");
    for (Queue queue : Queue.values()) {
      addResource(resources, queue.plural(), queue.singular(), queue.isNamespaced(), queue.kind());
      addResource(
              resources,
              queue.plural() + "/" + PENDING_WORKLOADS,
              "",
              queue.isNamespaced(),
              SUMMARY)
          .withArray("verbs")
          .add("get");
    }
    return list;
  }

  /** The kinds of queues whose pending Workloads can be read. */
  public enum Queue {
    /** Queues of the cluster. */
    CLUSTER_QUEUE("ClusterQueue"),
    /** Queues of a namespace. */
    LOCAL_QUEUE("LocalQueue");

    private final String kind;

    Queue(String kind) {
      this.kind = kind;
    }

    String kind() {
      return kind;
    }

    String singular() {
      return kind.toLowerCase(Locale.ROOT);
    }

    /** The name in paths. */
    public String plural() {
      return singular() + "s";
    }

    boolean isNamespaced() {
      return this == LOCAL_QUEUE;
    }
  }

  private static ObjectNode addResource(
      ArrayNode resources, String name, String singular, boolean namespaced, String kind) {
    ObjectNode resource =
        resources
            .addObject()
            .put("name", name)
            .put("singularName", singular)
            .put("namespaced", namespaced)
            .put("kind", kind);
    resource.putArray("verbs");
    return resource;
  }

  /** The description of both versions in OpenAPI 2, at {@code /openapi/v2}. */
  public static ObjectNode openApi2() {
    ObjectNode document = JsonMappers.JSON.createObjectNode().put("swagger", "2.0");
    addInfo(document);
    ObjectNode paths = document.putObject("paths");
    ObjectNode definitions = document.putObject("definitions");
    for (String version : VERSIONS) {
      String prefix = definition(version);
      for (Queue queue : Queue.values()) {
        ObjectNode get = operation(paths, version, queue);
        get.putArray("produces").add("application/json");
        for (String name : List.of("limit", "offset")) {
          query(get, name).put("type", INTEGER);
        }
        query(get, ESTIMATES).put("type", BOOLEAN);
        ObjectNode found = get.putObject("responses").putObject("200").put("description", "OK");
        found.putObject("schema").put("$ref", "#/definitions/" + prefix + SUMMARY);
      }
      addSchemas(definitions, version, "#/definitions/");
    }
    return document;
  }

  /** The versions that have a description in OpenAPI 3, at {@code /openapi/v3}. */
  public static ObjectNode openApi3() {
    ObjectNode index = JsonMappers.JSON.createObjectNode();
    ObjectNode paths = index.putObject("paths");
    for (String version : VERSIONS) {
      String path = "apis/" + GROUP + "/" + version;
      paths.putObject(path).put("serverRelativeURL", "/openapi/v3/" + path);
    }
    return index;
  }

  /** The description of a version in OpenAPI 3, at {@code /openapi/v3/apis/GROUP/VERSION}. */
  public static ObjectNode openApi3(String version) {
    ObjectNode document = JsonMappers.JSON.createObjectNode().put("openapi", "3.0.0");
    addInfo(document);
    ObjectNode paths = document.putObject("paths");
    String schemas = "#/components/schemas/";
    for (Queue queue : Queue.values()) {
      ObjectNode get = operation(paths, version, queue);
      for (String name : List.of("limit", "offset")) {
        query(get, name).putObject("schema").put("type", INTEGER);
      }
      query(get, ESTIMATES).putObject("schema").put("type", BOOLEAN);
      get.putObject("responses")
          .putObject("200")
          .put("description", "OK")
          .putObject("content")
          .putObject("application/json")
          .putObject("schema")
          .put("$ref", schemas + definition(version) + SUMMARY);
    }
    addSchemas(document.putObject("components").putObject("schemas"), version, schemas);
    return document;
  }

  private static ObjectNode kind(String kind, String version) {
    return JsonMappers.JSON.createObjectNode().put("kind", kind).put("apiVersion", version);
  }

  private static void addInfo(ObjectNode document) {
    document.putObject("info").put("title", "Pending Workloads of queues").put("version", "v1");
  }

  private static ObjectNode operation(ObjectNode paths, String version, Queue queue) {
    String namespace = queue.isNamespaced() ? "/namespaces/{namespace}" : "";
    ObjectNode path =
        paths.putObject(
            "/apis/"
                + GROUP
                + "/"
                + version
                + namespace
                + "/"
                + queue.plural()
                + "/{name}/"
                + PENDING_WORKLOADS);
    ArrayNode parameters = path.putArray("parameters");
    for (String name : queue.isNamespaced() ? List.of("namespace", "name") : List.of("name")) {
      ObjectNode parameter =
          parameters.addObject().put("name", name).put("in", "path").put("required", true);
      parameter.put("type", STRING);
    }
    ObjectNode get = path.putObject("get");
    get.put("operationId", "read" + version + queue.kind() + SUMMARY);
    get.putObject("x-kubernetes-group-version-kind")
        .put("group", GROUP)
        .put("version", version)
        .put("kind", SUMMARY);
    return get;
  }

  private static ObjectNode query(ObjectNode get, String name) {
    return get.withArray("parameters").addObject().put("name", name).put("in", "query");
  }

  /** The prefix of the names of a version's schemas. */
  private static String definition(String version) {
    return "io.x-k8s.kueue.visibility." + version + ".";
  }

  private static void addSchemas(ObjectNode schemas, String version, String reference) {
    String prefix = definition(version);
    ObjectNode summary = object(schemas, prefix + SUMMARY);
    addKind(summary, version);
    ObjectNode items = property(summary, "items", "array");
    items.putObject("items").put("$ref", reference + prefix + "PendingWorkload");
    ObjectNode workload = object(schemas, prefix + "PendingWorkload");
    property(workload, "metadata", "object");
    property(workload, "priority", INTEGER).put("format", "int32");
    property(workload, "localQueueName", STRING);
    property(workload, "positionInClusterQueue", INTEGER).put("format", "int32");
    property(workload, "positionInLocalQueue", INTEGER).put("format", "int32");
    property(workload, "estimatedStartTime", STRING).put("format", "date-time");
    property(workload, "latestStartTime", STRING).put("format", "date-time");
    property(workload, "estimateBasis", STRING);
  }

  private static void addKind(ObjectNode summary, String version) {
    property(summary, "apiVersion", STRING);
    property(summary, "kind", STRING);
    property(summary, "metadata", "object");
    summary
        .withArray("x-kubernetes-group-version-kind")
        .addObject()
        .put("group", GROUP)
        .put("version", version)
        .put("kind", SUMMARY);
  }

  private static ObjectNode object(ObjectNode schemas, String name) {
    return schemas.putObject(name).put("type", "object");
  }

  private static ObjectNode property(ObjectNode schema, String name, String type) {
    return schema.withObject("/properties").putObject(name).put("type", type);
  }
}
