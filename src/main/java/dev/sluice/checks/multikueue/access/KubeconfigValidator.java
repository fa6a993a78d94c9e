package dev.sluice.checks.multikueue.access;

import dev.sluice.checks.multikueue.access.KubeconfigTree.Entry;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Validates kubeconfigs of worker clusters. A user who may write a Secret or a ClusterProfile must
 * not be able to run code in the operator, read its files, or make it trust an arbitrary server.
 * Forbidden fields are refused in every entry, also in entries that the current context does not
 * use.
 */
public final class KubeconfigValidator {

  private static final String LOGIN = "token, or client-certificate-data with client-key-data";

  private final KubeconfigTree tree;

  private KubeconfigValidator(KubeconfigTree tree) {
    this.tree = tree;
  }

  /**
   * The access that a kubeconfig gives: {@link WorkerAccess.Usable} or {@link
   * WorkerAccess.Refused}.
   */
  public static WorkerAccess read(String text) {
    try {
      return new WorkerAccess.Usable(
          new KubeconfigValidator(KubeconfigTree.parse(text)).credentials());
    } catch (InvalidAccessException e) {
      return e.refusal();
    }
  }

  private WorkerCredentials credentials() throws InvalidAccessException {
    Map<String, Entry> clusters = tree.entries("clusters", "cluster");
    Map<String, Entry> users = tree.entries("users", "user");
    for (Entry cluster : clusters.values()) {
      refuseForbidden(cluster);
    }
    for (Entry user : users.values()) {
      refuseForbiddenLogin(user);
    }
    Map<String, Entry> contexts = tree.entries("contexts", "context");
    Optional<String> current = tree.currentContext();
    if (current.isEmpty()) {
      throw InvalidAccessException.bad(
          "current-context", "is missing", "the name of one of contexts");
    }
    Entry context = KubeconfigTree.find(contexts, current.get(), "current-context");
    Entry cluster =
        KubeconfigTree.find(clusters, context.text("cluster").orElse(""), context.path("cluster"));
    Entry user = KubeconfigTree.find(users, context.text("user").orElse(""), context.path("user"));
    return credentials(cluster, user);
  }

  private static void refuseForbidden(Entry cluster) throws InvalidAccessException {
    if (cluster.isSet("insecure-skip-tls-verify")) {
      throw InvalidAccessException.insecure(
          cluster.path("insecure-skip-tls-verify"),
          "true is not allowed",
          "false or absent; the certificate of the server is always verified");
    }
    if (cluster.isSet("certificate-authority")) {
      throw InvalidAccessException.insecure(
          cluster.path("certificate-authority"),
          quoted(cluster, "certificate-authority") + " is a file, which is not allowed",
          "certificate-authority-data with the certificates themselves");
    }
  }

  private static void refuseForbiddenLogin(Entry user) throws InvalidAccessException {
    if (user.isSet("tokenFile")) {
      throw InvalidAccessException.insecure(
          user.path("tokenFile"),
          quoted(user, "tokenFile") + " is a file, which is not allowed",
          LOGIN);
    }
    if (user.isSet("username")) {
      throw InvalidAccessException.insecure(
          user.path("username"), "basic authentication is not allowed", LOGIN);
    }
    if (user.isSet("password")) {
      throw InvalidAccessException.insecure(
          user.path("password"), "basic authentication is not allowed", LOGIN);
    }
    if (user.isSet("auth-provider")) {
      throw InvalidAccessException.insecure(
          user.path("auth-provider"),
          "\"" + user.fields().path("auth-provider").path("name").asText() + "\" is not allowed",
          LOGIN);
    }
    if (user.isSet("exec")) {
      throw InvalidAccessException.insecure(
          user.path("exec"),
          "running \"" + user.fields().path("exec").path("command").asText() + "\" is not allowed",
          LOGIN + "; commands run only as access providers of a ClusterProfile");
    }
  }

  private static WorkerCredentials credentials(Entry cluster, Entry user)
      throws InvalidAccessException {
    Place place = located(cluster);
    refuseUnsupported(user, "as", "a user of the worker cluster's own");
    refuseUnsupported(user, "as-uid", "a user of the worker cluster's own");
    refuseUnsupported(user, "as-groups", "a user of the worker cluster's own");
    refuseUnsupported(user, "as-user-extra", "a user of the worker cluster's own");
    refuseUnsupported(user, "client-certificate", "client-certificate-data");
    refuseUnsupported(user, "client-key", "client-key-data");
    Optional<String> certificate = certificates(user, "client-certificate-data");
    Optional<String> key = encoded(user, "client-key-data");
    if (certificate.isPresent() != key.isPresent()) {
      throw InvalidAccessException.bad(
          user.path(certificate.isPresent() ? "client-key-data" : "client-certificate-data"),
          "is missing",
          "both of client-certificate-data and client-key-data, or none");
    }
    Optional<String> token = user.text("token");
    if (token.isPresent() && !token.get().chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw InvalidAccessException.bad(
          user.path("token"), "has a space or another character no token has", "a bearer token");
    }
    return new WorkerCredentials(place.server(), place.authority(), token, certificate, key);
  }

  /**
   * The address of a cluster and the certificate authority of its server.
   *
   * @param authority base64 of certificates in PEM
   */
  record Place(URI server, Optional<String> authority) {}

  /** Validates a cluster entry and returns its address. */
  static Place place(Entry cluster) throws InvalidAccessException {
    refuseForbidden(cluster);
    return located(cluster);
  }

  private static Place located(Entry cluster) throws InvalidAccessException {
    URI server = server(cluster);
    refuseUnsupported(cluster, "tls-server-name", "a server whose certificate names its own host");
    refuseUnsupported(cluster, "proxy-url", "a server that is reached directly");
    return new Place(server, certificates(cluster, "certificate-authority-data"));
  }

  private static URI server(Entry cluster) throws InvalidAccessException {
    String field = cluster.path("server");
    String allowed = "https://host, or https://host:port";
    Optional<String> text = cluster.text("server");
    if (text.isEmpty()) {
      throw InvalidAccessException.bad(field, "is missing", allowed);
    }
    URI server = uri(text.get());
    if (server == null || server.getHost() == null || server.getHost().isEmpty()) {
      throw InvalidAccessException.bad(
          field, "\"" + withoutUser(text.get()) + "\" has no valid host", allowed);
    }
    if (server.getUserInfo() != null) {
      throw InvalidAccessException.insecure(field, "a user in the address is not allowed", allowed);
    }
    if (!"https".equals(server.getScheme())) {
      throw InvalidAccessException.insecure(field, "\"" + server + "\" is not encrypted", allowed);
    }
    if (server.getQuery() != null || server.getFragment() != null) {
      throw InvalidAccessException.bad(
          field, "\"" + server + "\" has more than host and path", allowed);
    }
    return server;
  }

  private static @Nullable URI uri(String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      return null;
    }
  }

  private static String withoutUser(String address) {
    return address.replaceFirst("//[^/@]*@", "//");
  }

  private static void refuseUnsupported(Entry entry, String field, String allowed)
      throws InvalidAccessException {
    if (entry.isSet(field)) {
      throw InvalidAccessException.unsupported(entry.path(field), "is not supported", allowed);
    }
  }

  private static Optional<String> certificates(Entry entry, String field)
      throws InvalidAccessException {
    Optional<String> data = encoded(entry, field);
    if (data.isPresent() && !holdsCertificates(Base64.getDecoder().decode(data.get()))) {
      throw InvalidAccessException.bad(
          entry.path(field), "holds no certificate", "base64 of PEM certificates");
    }
    return data;
  }

  private static boolean holdsCertificates(byte[] pem) {
    try {
      return !CertificateFactory.getInstance("X.509")
          .generateCertificates(new ByteArrayInputStream(pem))
          .isEmpty();
    } catch (CertificateException e) {
      return false;
    }
  }

  /** The base64 value of a field without white space. */
  private static Optional<String> encoded(Entry entry, String field) throws InvalidAccessException {
    Optional<String> text = entry.text(field).map(it -> it.replaceAll("\\s", ""));
    if (text.isPresent()) {
      try {
        byte[] unused = Base64.getDecoder().decode(text.get());
      } catch (IllegalArgumentException e) {
        throw InvalidAccessException.bad(entry.path(field), "is not base64", "base64 of PEM");
      }
    }
    return text;
  }

  private static String quoted(Entry entry, String field) {
    return "\"" + entry.fields().path(field).asText() + "\"";
  }
}
