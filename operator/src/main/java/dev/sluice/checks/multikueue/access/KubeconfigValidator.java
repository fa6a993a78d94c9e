package dev.sluice.checks.multikueue.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.access.KubeconfigTree.Entry;
import dev.sluice.checks.multikueue.access.WorkerAccess.InvalidAccessException;
import dev.sluice.checks.multikueue.access.WorkerCredentials.Impersonation;
import dev.sluice.checks.multikueue.access.WorkerCredentials.WorkerEndpoint;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Validates kubeconfigs of worker clusters. A user who may write a Secret or a ClusterProfile must
 * not be able to run code in the operator, read its files, or make it trust an arbitrary server.
 * Forbidden fields are refused in every entry, also in entries that the current context does not
 * use.
 */
public final class KubeconfigValidator {

  private static final Pattern HOST =
      Pattern.compile(
          "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*");
  private static final String LOGIN = "token, or client-certificate-data with client-key-data";

  private final KubeconfigTree tree;
  private final KeyFiles keyFiles;

  private KubeconfigValidator(KubeconfigTree tree, KeyFiles keyFiles) {
    this.tree = tree;
    this.keyFiles = keyFiles;
  }

  /** Reads the files with certificates and keys that a kubeconfig names. */
  @FunctionalInterface
  interface KeyFiles {

    /**
     * The text of a file.
     *
     * @param field the field that names the file, for messages
     * @param location the file as the kubeconfig names it
     */
    String text(String field, String location) throws InvalidAccessException;
  }

  /**
   * The access that a kubeconfig gives which is not in a file: {@link WorkerAccess.Usable} or
   * {@link WorkerAccess.Refused}. It may name no files.
   */
  public static WorkerAccess read(String text) {
    return read(
        text,
        (field, location) -> {
          throw InvalidAccessException.insecure(
              field,
              "\"" + location + "\" is a file, which only a kubeconfig in a file may name",
              field.substring(field.lastIndexOf('.') + 1) + "-data");
        });
  }

  /** The access that a kubeconfig gives, with files that it may name. */
  static WorkerAccess read(String text, KeyFiles keyFiles) {
    try {
      return new WorkerAccess.Usable(
          new KubeconfigValidator(KubeconfigTree.parse(text), keyFiles).credentials());
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

  private WorkerCredentials credentials(Entry cluster, Entry user) throws InvalidAccessException {
    WorkerEndpoint endpoint = located(cluster);
    Optional<String> certificate = ofUser(user, "client-certificate");
    if (certificate.isPresent()) {
      certificates(user, "client-certificate-data", certificate.get());
    }
    Optional<String> key = ofUser(user, "client-key");
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
    return new WorkerCredentials(
        endpoint,
        token,
        certificate,
        key,
        Optional.empty(),
        ImpersonationFields.impersonation(user));
  }

  /** What a field with data holds, or else the file that the field beside it names; base64. */
  private Optional<String> ofUser(Entry user, String field) throws InvalidAccessException {
    Optional<String> data = encoded(user, field + "-data");
    Optional<String> location = user.text(field);
    if (data.isPresent() || location.isEmpty()) {
      return data;
    }
    String pem = keyFiles.text(user.path(field), location.get());
    return Optional.of(Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.UTF_8)));
  }

  /** Validates a cluster entry and returns where the cluster is. */
  static WorkerEndpoint endpoint(Entry cluster) throws InvalidAccessException {
    refuseForbidden(cluster);
    return located(cluster);
  }

  private static WorkerEndpoint located(Entry cluster) throws InvalidAccessException {
    URI server = server(cluster);
    Optional<String> authority = encoded(cluster, "certificate-authority-data");
    if (authority.isPresent()) {
      certificates(cluster, "certificate-authority-data", authority.get());
    }
    return new WorkerEndpoint(server, authority, serverName(cluster), proxy(cluster));
  }

  private static Optional<String> serverName(Entry cluster) throws InvalidAccessException {
    Optional<String> name = cluster.text("tls-server-name");
    if (name.isPresent() && (name.get().length() > 253 || !HOST.matcher(name.get()).matches())) {
      throw InvalidAccessException.bad(
          cluster.path("tls-server-name"),
          "is not the name of a host",
          "letters, digits and - between dots, such as api.example.org");
    }
    return name;
  }

  private static Optional<URI> proxy(Entry cluster) throws InvalidAccessException {
    Optional<String> text = cluster.text("proxy-url");
    if (text.isEmpty()) {
      return Optional.empty();
    }
    String field = cluster.path("proxy-url");
    String allowed = "http://host:port or socks5://host:port, with a user or without";
    URI proxy = uri(text.get());
    if (proxy == null || proxy.getHost() == null || proxy.getHost().isEmpty()) {
      throw InvalidAccessException.bad(field, "has no valid host", allowed);
    }
    if ("https".equals(proxy.getScheme())) {
      throw InvalidAccessException.unsupported(
          field, "an encrypted connection to the proxy is not supported", allowed);
    }
    if (!"http".equals(proxy.getScheme()) && !"socks5".equals(proxy.getScheme())) {
      throw InvalidAccessException.bad(field, "is of no known kind", allowed);
    }
    if (proxy.getPort() > 65_535) {
      throw InvalidAccessException.bad(field, "has no valid port", allowed);
    }
    String path = proxy.getRawPath();
    if (proxy.getRawQuery() != null
        || proxy.getRawFragment() != null
        || !(path.isEmpty() || path.equals("/"))) {
      throw InvalidAccessException.bad(field, "has more than user, host and port", allowed);
    }
    return Optional.of(withPort(proxy));
  }

  /** The address with the port that is usual for its kind, if it has none. */
  private static URI withPort(URI proxy) {
    if (proxy.getPort() >= 0) {
      return proxy;
    }
    String user = proxy.getRawUserInfo() == null ? "" : proxy.getRawUserInfo() + "@";
    boolean http = proxy.getScheme().equals("http");
    return URI.create(
        proxy.getScheme() + "://" + user + proxy.getHost() + (http ? ":80" : ":1080"));
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

  private static void certificates(Entry entry, String field, String base64)
      throws InvalidAccessException {
    if (!holdsCertificates(Base64.getDecoder().decode(base64))) {
      throw InvalidAccessException.bad(
          entry.path(field), "holds no certificate", "base64 of PEM certificates");
    }
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

  /**
   * Reads whom a kubeconfig's user acts as: {@code as}, {@code as-uid}, {@code as-groups} and
   * {@code as-user-extra}. All of them are sent in headers, so that they may only have what a
   * header may.
   */
  private static final class ImpersonationFields {

    private static final String USER = "as";
    private static final String UID = "as-uid";
    private static final String GROUPS = "as-groups";
    private static final String EXTRA = "as-user-extra";
    private static final String TEXTS = "a list of texts";

    private ImpersonationFields() {}

    /** Whom the user acts as; empty if as themselves. */
    static Optional<Impersonation> impersonation(Entry userEntry) throws InvalidAccessException {
      Optional<String> name = text(userEntry, USER);
      if (name.isEmpty()) {
        for (String field : List.of(UID, GROUPS, EXTRA)) {
          if (userEntry.isSet(field)
              && !(userEntry.fields().path(field).isEmpty() && isList(userEntry, field))) {
            throw InvalidAccessException.bad(
                userEntry.path(field), "is given without " + USER, "only together with " + USER);
          }
        }
        return Optional.empty();
      }
      return Optional.of(
          new Impersonation(
              name.get(),
              text(userEntry, UID),
              texts(userEntry.path(GROUPS), userEntry.fields().path(GROUPS)),
              extra(userEntry)));
    }

    private static boolean isList(Entry userEntry, String field) {
      return userEntry.fields().path(field).isContainerNode();
    }

    private static Optional<String> text(Entry userEntry, String field)
        throws InvalidAccessException {
      Optional<String> text = userEntry.text(field);
      if (text.isPresent()) {
        checkHeader(userEntry.path(field), text.get());
      }
      return text;
    }

    private static Map<String, List<String>> extra(Entry userEntry) throws InvalidAccessException {
      JsonNode value = userEntry.fields().path(EXTRA);
      if (value.isMissingNode() || value.isNull()) {
        return Map.of();
      }
      if (!value.isObject()) {
        throw InvalidAccessException.bad(
            userEntry.path(EXTRA), "is not an object", "an object with a list of texts per key");
      }
      Map<String, List<String>> extra = new TreeMap<>();
      for (Map.Entry<String, JsonNode> each : value.properties()) {
        String path = userEntry.path(EXTRA) + "[" + each.getKey() + "]";
        checkHeader(path, each.getKey());
        extra.put(each.getKey(), texts(path, each.getValue()));
      }
      return extra;
    }

    private static List<String> texts(String path, JsonNode value) throws InvalidAccessException {
      if (value.isMissingNode() || value.isNull()) {
        return List.of();
      }
      if (!value.isArray()) {
        throw InvalidAccessException.bad(path, "is not a list", TEXTS);
      }
      List<String> texts = new ArrayList<>();
      for (JsonNode each : value) {
        if (!each.isTextual()) {
          throw InvalidAccessException.bad(path, "has something else than texts", TEXTS);
        }
        checkHeader(path, each.textValue());
        texts.add(each.textValue());
      }
      return texts;
    }

    private static void checkHeader(String path, String text) throws InvalidAccessException {
      boolean plain = text.chars().allMatch(c -> c >= ' ' && c < 0x7f);
      if (text.isEmpty() || !plain || !text.strip().equals(text)) {
        throw InvalidAccessException.bad(
            path,
            "is empty, or has a character that a header can't have",
            "visible characters of ASCII, and spaces between them");
      }
    }
  }
}
