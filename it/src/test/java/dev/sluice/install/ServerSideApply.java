package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.player.PlayedDefinitions;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Applies manifests as they are written, as {@code kubectl apply --server-side} does. */
final class ServerSideApply {

  private final KubernetesClient client;
  private final KubernetesSerialization serialization = new KubernetesSerialization();

  ServerSideApply(KubernetesClient client) {
    this.client = client;
  }

  /** Applies {@code crds/} and waits until the API server serves the kinds. */
  void definitions() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("crds"))) {
      for (Path file : files.sorted().toList()) {
        apply(Files.readString(file));
      }
    }
    awaitDefinitions();
  }

  /** Waits until the API server serves the kinds that are defined. */
  void awaitDefinitions() {
    client
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .list()
        .getItems()
        .forEach(
            each ->
                client
                    .resource(each)
                    .waitUntilCondition(PlayedDefinitions::isEstablished, 1, TimeUnit.MINUTES));
  }

  /**
   * Applies every document; what the API server doesn't know, or warns about, is a failure.
   *
   * @return the objects as they are stored now
   */
  List<HasMetadata> apply(String text) {
    List<HasMetadata> stored = new ArrayList<>();
    for (String document : text.split("(?m)^---\n", -1)) {
      HasMetadata object = serialization.unmarshal(document);
      var answer = send(object, document);
      assertThat(answer.code()).as("%s: %s", name(object), answer.body()).isIn(200, 201);
      assertThat(answer.headers("Warning")).as(name(object)).isEmpty();
      stored.add(serialization.unmarshal(answer.body()));
    }
    return stored;
  }

  private HttpResponse<String> send(HasMetadata object, String document) {
    String namespace = object.getMetadata().getNamespace();
    String uri =
        client.getMasterUrl()
            + (object.getApiVersion().contains("/") ? "apis/" : "api/")
            + object.getApiVersion()
            + (namespace == null ? "" : "/namespaces/" + namespace)
            + "/"
            + object.getPlural()
            + "/"
            + object.getMetadata().getName()
            + "?fieldManager=test&force=true&fieldValidation=Strict";
    var http = client.getHttpClient();
    return http.sendAsync(
            http.newHttpRequestBuilder()
                .uri(uri)
                .method("PATCH", "application/apply-patch+yaml", document)
                .build(),
            String.class)
        .join();
  }

  private static String name(HasMetadata object) {
    return object.getKind() + " " + object.getMetadata().getName();
  }
}
