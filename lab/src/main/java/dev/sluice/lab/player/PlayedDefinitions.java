package dev.sluice.lab.player;

import dev.sluice.jobs.kind.JobKind;
import dev.sluice.kube.definitions.DefinitionConditions;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;

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
        .waitUntilCondition(DefinitionConditions::isEstablished, SECONDS, TimeUnit.SECONDS);
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
}
