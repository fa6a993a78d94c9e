package dev.sluice.kube.client;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.certificates.TlsContexts.ClientCertificate;
import dev.sluice.kube.client.ClientConfigs.ClusterAccess;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads kubeconfigs that hold an address, and a certificate or a token: the case that needs nothing
 * of the client library. Whatever else a kubeconfig or the environment says (programs to log in
 * with, proxies, several files, a file that can't be read) is left to the client library.
 */
public final class PlainKubeconfig {

  private static final Set<String> OF_CLUSTERS =
      Set.of("server", "certificate-authority", "certificate-authority-data", "extensions");
  private static final Set<String> OF_USERS =
      Set.of(
          "client-certificate",
          "client-certificate-data",
          "client-key",
          "client-key-data",
          "token",
          "extensions");

  private PlainKubeconfig() {}

  /**
   * The access that a kubeconfig describes; empty if the client library has to find it.
   *
   * @param file the file that was given; empty: the one that any client takes
   * @param environment the variables of the environment
   */
  public static Optional<ClusterAccess> read(Optional<Path> file, Map<String, String> environment) {
    if (environment.keySet().stream().anyMatch(PlainKubeconfig::changesAccess)) {
      return Optional.empty();
    }
    try {
      Path path = file.orElseGet(() -> usual(environment));
      return read(JsonMappers.YAML.readTree(Files.readString(path)), path);
    } catch (IOException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static boolean changesAccess(String variable) {
    return variable.startsWith("KUBERNETES_")
        || variable.toLowerCase(Locale.ROOT).endsWith("_proxy");
  }

  private static Path usual(Map<String, String> environment) {
    String named = environment.getOrDefault("KUBECONFIG", "");
    return named.isEmpty()
        ? Path.of(environment.getOrDefault("HOME", ""), ".kube", "config")
        : Path.of(named);
  }

  private static Optional<ClusterAccess> read(JsonNode config, Path path) throws IOException {
    JsonNode context =
        named(config.path("contexts"), config.path("current-context")).path("context");
    JsonNode cluster = named(config.path("clusters"), context.path("cluster")).path("cluster");
    JsonNode user = named(config.path("users"), context.path("user")).path("user");
    if (!only(OF_CLUSTERS, cluster) || !only(OF_USERS, user)) {
      return Optional.empty();
    }
    URI server = URI.create(cluster.path("server").asText(""));
    boolean bare = server.getPath() == null || server.getPath().length() <= 1;
    if (server.getHost() == null || !bare) {
      return Optional.empty();
    }
    Optional<String> chain = pem(user, "client-certificate", path);
    Optional<String> key = pem(user, "client-key", path);
    Optional<String> token = text(user, "token");
    if (chain.isPresent() != key.isPresent() || chain.isEmpty() == token.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new ClusterAccess(
            server,
            pem(cluster, "certificate-authority", path),
            chain.flatMap(certificate -> key.map(own -> new ClientCertificate(certificate, own))),
            token,
            text(context, "namespace")));
  }

  /** The entry of a list that has this name; a missing node if there is none. */
  private static JsonNode named(JsonNode list, JsonNode name) {
    for (JsonNode entry : list) {
      if (name.isTextual() && entry.path("name").equals(name)) {
        return entry;
      }
    }
    return list.path(-1);
  }

  private static boolean only(Set<String> known, JsonNode object) {
    return object.isObject()
        && object.properties().stream().allMatch(field -> known.contains(field.getKey()));
  }

  /** What a field holds in base64, or the file holds that another field names. */
  private static Optional<String> pem(JsonNode object, String field, Path kubeconfig)
      throws IOException {
    Optional<String> data = text(object, field + "-data");
    if (data.isPresent()) {
      return Optional.of(
          new String(Base64.getMimeDecoder().decode(data.get()), StandardCharsets.US_ASCII));
    }
    Optional<String> file = text(object, field);
    return file.isEmpty()
        ? Optional.empty()
        : Optional.of(Files.readString(kubeconfig.resolveSibling(file.get())));
  }

  private static Optional<String> text(JsonNode object, String field) {
    return Optional.of(object.path(field).asText("")).filter(text -> !text.isEmpty());
  }
}
