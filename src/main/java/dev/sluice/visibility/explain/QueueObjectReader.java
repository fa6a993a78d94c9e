package dev.sluice.visibility.explain;

import dev.sluice.api.ApiVersions;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.StreamingListParser;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadParser;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Reads objects of the project's API with the permissions of a user. What the user may not read is
 * empty, and a remark says so.
 */
final class QueueObjectReader {

  private static final int PAGE = 1000;

  private final KubernetesClient client;
  private final List<String> remarks = new ArrayList<>();

  QueueObjectReader(KubernetesClient client) {
    this.client = client;
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
  Optional<GenericKubernetesResource> get(
      String kind, String plural, String namespace, String name) {
    return Optional.ofNullable(
        client
            .genericKubernetesResources(kind(kind, plural, true))
            .inNamespace(namespace)
            .withName(name)
            .get());
  }

  /** All objects of a kind without namespace. */
  List<GenericKubernetesResource> list(String kind, String plural) {
    return client.genericKubernetesResources(kind(kind, plural, false)).list().getItems();
  }

  /** The objects of a namespaced kind, of one namespace or of all. */
  List<GenericKubernetesResource> list(String kind, String plural, Optional<String> namespace) {
    var all = client.genericKubernetesResources(kind(kind, plural, true));
    return (namespace.isPresent() ? all.inNamespace(namespace.get()) : all.inAnyNamespace())
        .list()
        .getItems();
  }

  /** An untyped object as one of its type. */
  <T> T typed(GenericKubernetesResource object, Class<T> type) {
    return client.getKubernetesSerialization().convertValue(object, type);
  }

  /** The Workloads of one namespace or of all. */
  List<CachedWorkload> workloads(Optional<String> namespace) {
    String path =
        "/apis/%s/%s/%sworkloads?limit=%d"
            .formatted(
                ApiVersions.GROUP,
                ApiVersions.V1BETA2,
                namespace.map(name -> "namespaces/" + name + "/").orElse(""),
                PAGE);
    WorkloadParser parser = new WorkloadParser();
    List<CachedWorkload> workloads = new ArrayList<>();
    String next = "";
    try {
      do {
        String page =
            client.raw(
                next.isEmpty()
                    ? path
                    : path + "&continue=" + URLEncoder.encode(next, StandardCharsets.UTF_8));
        if (page == null) {
          return workloads;
        }
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

  private static ResourceDefinitionContext kind(String kind, String plural, boolean namespaced) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(ApiVersions.GROUP)
        .withVersion(ApiVersions.V1BETA2)
        .withKind(kind)
        .withPlural(plural)
        .withNamespaced(namespaced)
        .build();
  }
}
