package dev.sluice.visibility.explain;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.ApiReader;
import dev.sluice.kube.client.StreamingListParser;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Reads objects of the project's API with the permissions of a user. What the user may not read is
 * empty, and a remark says so.
 */
final class QueueObjectReader {

  private static final int PAGE = 1000;

  private static final TypeReference<Map<String, Object>> FIELDS = new TypeReference<>() {};
  private static final String PREFIX =
      "/apis/" + ApiVersions.GROUP + "/" + ApiVersions.V1BETA2 + "/";
  private static final int NOT_FOUND = 404;

  private final ApiReader api;
  private final List<String> remarks = new ArrayList<>();

  QueueObjectReader(ApiReader api) {
    this.api = api;
  }

  /** A line for each read that was refused. */
  List<String> remarks() {
    return remarks;
  }

  /**
   * The outcome of a request; empty if the API server refused it.
   *
   * @param what the consequence of a refusal, for the remark
   */
  <T> Optional<T> permitted(String what, Supplier<T> request) {
    try {
      return Optional.of(request.get());
    } catch (KubernetesClientException e) {
      if (ApiErrorText.unreachable(e)) {
        throw e;
      }
      remarks.add("  (%s: %s)".formatted(what, ApiErrorText.of(e)));
      return Optional.empty();
    }
  }

  /** A namespaced object; empty if it does not exist. */
  Optional<GenericKubernetesResource> get(String plural, String namespace, String name) {
    return existing(
        PREFIX + "namespaces/%s/%s/%s".formatted(encoded(namespace), plural, encoded(name)));
  }

  private Optional<GenericKubernetesResource> existing(String path) {
    try {
      return Optional.of(object(fields(api.get(path))));
    } catch (KubernetesClientException e) {
      if (e.getCode() == NOT_FOUND) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** The name of a Job's newest Workload; empty if there is no such Job, or it has none. */
  Optional<String> workloadOfJob(String namespace, String job) {
    String path =
        "/apis/batch/v1/namespaces/%s/jobs/%s".formatted(encoded(namespace), encoded(job));
    return existing(path)
        .flatMap(
            found ->
                list(
                        "namespaces/%s/workloads?labelSelector=%s"
                            .formatted(
                                encoded(namespace),
                                encoded(
                                    KueueConstants.JOB_UID + "=" + found.getMetadata().getUid())))
                    .stream()
                    .max(
                        Comparator.comparing(
                            workload -> JsonPaths.text(workload, "metadata", "creationTimestamp"))))
        .map(workload -> workload.getMetadata().getName());
  }

  /**
   * The name of the newest Workload that a job of this name owns; empty if there is none.
   *
   * @param kind the kind of the job in lower case, singular; empty for any
   */
  Optional<String> workloadOwnedBy(String namespace, String kind, String job) {
    return list("namespaces/%s/workloads".formatted(encoded(namespace))).stream()
        .filter(
            workload ->
                workload.getMetadata().getOwnerReferences().stream()
                    .filter(owner -> owner.getName().equals(job))
                    .map(owner -> owner.getKind().toLowerCase(Locale.ROOT))
                    .anyMatch(owner -> kind.isEmpty() || owner.equals(kind)))
        .max(
            Comparator.comparing(
                workload -> JsonPaths.text(workload, "metadata", "creationTimestamp")))
        .map(workload -> workload.getMetadata().getName());
  }

  /**
   * All objects of a collection, such as {@code cohorts}: of all namespaces unless it names one.
   */
  List<GenericKubernetesResource> list(String collection) {
    List<GenericKubernetesResource> objects = new ArrayList<>();
    for (Map<?, ?> item : JsonPaths.maps(fields(api.get(PREFIX + collection)).get("items"))) {
      objects.add(object(item));
    }
    return objects;
  }

  private static Map<String, Object> fields(String json) {
    try {
      return JsonMappers.JSON.readValue(json, FIELDS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * An object without a type of its own. It is made field by field, because a mapper looks at each
   * type that it may meet first, and a person waits.
   */
  private static GenericKubernetesResource object(Map<?, ?> fields) {
    GenericKubernetesResource object = new GenericKubernetesResource();
    ObjectMeta metadata = new ObjectMeta();
    if (fields.get("metadata") instanceof Map<?, ?> found) {
      metadata.setName(JsonPaths.string(found.get("name"), ""));
      metadata.setNamespace(JsonPaths.string(found.get("namespace"), ""));
      metadata.setUid(JsonPaths.string(found.get("uid"), ""));
      if (found.get("annotations") instanceof Map<?, ?> annotations) {
        annotations.forEach(
            (key, value) ->
                metadata.getAnnotations().put(key.toString(), JsonPaths.string(value, "")));
      }
    }
    object.setMetadata(metadata);
    fields.forEach((key, value) -> object.setAdditionalProperty(key.toString(), value));
    return object;
  }

  /** The Workloads of one namespace or of all. */
  List<CachedWorkload> workloads(Optional<String> namespace) {
    String path =
        "%s%sworkloads?limit=%d"
            .formatted(
                PREFIX,
                namespace.map(name -> "namespaces/" + encoded(name) + "/").orElse(""),
                PAGE);
    WorkloadParser parser = new WorkloadParser();
    List<CachedWorkload> workloads = new ArrayList<>();
    String next = "";
    try {
      do {
        String page = api.get(next.isEmpty() ? path : path + "&continue=" + encoded(next));
        byte[] frame =
            StreamingListParser.split(
                new ByteArrayInputStream(page.getBytes(StandardCharsets.UTF_8)),
                (bytes, length) -> workloads.add(parser.parse(bytes, 0, length)));
        next = JsonMappers.JSON.readTree(frame).path("metadata").path("continue").asText("");
      } while (!next.isEmpty());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return workloads;
  }

  private static String encoded(String part) {
    return URLEncoder.encode(part, StandardCharsets.UTF_8);
  }
}
