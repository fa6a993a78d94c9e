package dev.sluice.lab.player;

import dev.sluice.jobs.kind.JobKind;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Thin definitions of kinds that are played: group, versions, names, scope, the status subresource
 * and the types of the fields that matter. Everything else of an object is kept and not validated,
 * where a real definition may refuse it; no webhook sets defaults or forbids changes.
 */
public final class PlayedDefinitions {

  private static final long SECONDS = 120;

  private PlayedDefinitions() {}

  /** Makes the API server serve a kind, and what its controller reads; returns when it does. */
  public static void install(KubernetesClient client, PlayedKind played) {
    played.reads().forEach(read -> install(client, read.kind()));
    install(client, played.kind());
  }

  /** Makes the API server serve a kind; returns when it does. */
  public static void install(KubernetesClient client, JobKind kind) {
    client.resource(read(client, kind)).serverSideApply();
    client
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .withName(kind.definition())
        .waitUntilCondition(PlayedDefinitions::isEstablished, SECONDS, TimeUnit.SECONDS);
  }

  /** Removes a kind, and with it all its objects; returns when the definition is gone. */
  public static void remove(KubernetesClient client, JobKind kind) {
    client
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .withName(kind.definition())
        .withTimeout(SECONDS, TimeUnit.SECONDS)
        .delete();
  }

  private static CustomResourceDefinition read(KubernetesClient client, JobKind kind) {
    String file = kind.definition() + ".yaml";
    try (InputStream text = PlayedDefinitions.class.getResourceAsStream(file)) {
      if (text == null) {
        throw new IllegalArgumentException("no definition " + file + " in the laboratory");
      }
      return client.getKubernetesSerialization().unmarshal(text, CustomResourceDefinition.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Whether the API server serves the definition's kind. False for a definition that doesn't exist,
   * or that is so new that it has no status or no conditions yet.
   */
  public static boolean isEstablished(@Nullable CustomResourceDefinition definition) {
    return Optional.ofNullable(definition).map(CustomResourceDefinition::getStatus).stream()
        .flatMap(status -> Stream.ofNullable(status.getConditions()))
        .flatMap(List::stream)
        .anyMatch(each -> each.getType().equals("Established") && each.getStatus().equals("True"));
  }
}
