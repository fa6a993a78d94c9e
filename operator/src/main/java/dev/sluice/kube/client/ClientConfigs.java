package dev.sluice.kube.client;

import dev.sluice.kube.certificates.Pem;
import dev.sluice.kube.certificates.TlsContexts;
import dev.sluice.kube.certificates.TlsContexts.ClientCertificate;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.util.Base64;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Makes configurations of clients. The client library takes keys of type EC for RSA unless they are
 * in the form of SEC 1 and named as such; these configurations hold them in that form.
 */
public final class ClientConfigs {

  private static final String EC = "EC";

  private ClientConfigs() {}

  /**
   * The configuration that a kubeconfig describes; without one, the configuration that any client
   * finds in the environment. The client library doesn't repeat requests by itself: whoever sends
   * one counts it, asks whether it may be sent, and decides whether it is sent again.
   *
   * @throws KubeconfigException when the kubeconfig is none, or nothing in the environment tells of
   *     a cluster
   * @throws IOException when the kubeconfig cannot be read
   */
  public static Config of(Optional<Path> kubeconfig) throws IOException {
    Config config = kubeconfig.isPresent() ? described(kubeconfig.get()) : found();
    config.setRequestRetryBackoffLimit(0);
    return withReadableKey(config);
  }

  private static Config found() throws KubeconfigException {
    Config config = Config.autoConfigure(null);
    if (isDefault(config) && System.getenv("KUBERNETES_SERVICE_HOST") == null) {
      throw new KubeconfigException(
          "no kubeconfig: --kubeconfig is not given, KUBECONFIG names none, and "
              + Path.of(System.getProperty("user.home"), ".kube", "config")
              + " names no cluster");
    }
    return config;
  }

  private static Config described(Path kubeconfig) throws IOException {
    Optional<ClusterAccess> plain =
        System.getProperties().stringPropertyNames().stream()
                .anyMatch(property -> property.startsWith("kubernetes."))
            ? Optional.empty()
            : PlainKubeconfig.read(Optional.of(kubeconfig), System.getenv());
    return plain.isPresent() ? plain(plain.get()) : foundByLibrary(kubeconfig);
  }

  /**
   * The client library loads the classes of all 400 kinds that it knows to read a kubeconfig; this
   * spares a process that needs none of them their memory.
   */
  private static Config plain(ClusterAccess access) {
    Config config = Config.empty();
    config.setMasterUrl(access.server().toString());
    access.authority().ifPresent(pem -> config.setCaCertData(base64(pem)));
    access
        .certificate()
        .ifPresent(
            certificate -> {
              config.setClientCertData(base64(certificate.chain()));
              config.setClientKeyData(base64(certificate.key()));
            });
    access.token().ifPresent(config::setAutoOAuthToken);
    access.namespace().ifPresent(config::setNamespace);
    return config;
  }

  private static String base64(String pem) {
    return Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII));
  }

  private static Config foundByLibrary(Path kubeconfig) throws IOException {
    try {
      String text = Files.readString(kubeconfig);
      Config config = Config.fromKubeconfig(text);
      if (isDefault(config)) {
        throw new KubeconfigException(
            kubeconfig + " is not a kubeconfig: it has no current context with a cluster");
      }
      return config;
    } catch (CharacterCodingException binary) {
      throw new KubeconfigException(kubeconfig + " is not a kubeconfig: it is no text in UTF-8");
    } catch (RuntimeException e) {
      throw new KubeconfigException(
          kubeconfig + " is not a kubeconfig: " + ApiErrorText.of((Throwable) e));
    }
  }

  /** Whether the client library was told of no cluster, so that it supposes to be in a pod. */
  private static boolean isDefault(Config config) {
    return config.getCurrentContext() == null
        && config.getMasterUrl().startsWith(Config.DEFAULT_MASTER_URL);
  }

  /** Changes the client key in a configuration so that the client library reads it. */
  public static Config withReadableKey(Config config) {
    try {
      Optional<String> pem = keyPem(config);
      if (pem.isPresent()) {
        PrivateKey key = Pem.privateKey(pem.get());
        if (key.getAlgorithm().equals(EC)) {
          byte[] readable = Pem.ellipticKey(key).getBytes(StandardCharsets.US_ASCII);
          config.setClientKeyData(Base64.getEncoder().encodeToString(readable));
          config.setClientKeyAlgo(EC);
        }
      }
      return config;
    } catch (GeneralSecurityException | IOException | IllegalArgumentException unreadable) {
      // The client library says what is wrong with the key when it opens a connection.
      return config;
    }
  }

  /**
   * The certificate that a configuration logs in with; empty if it has none.
   *
   * @throws IOException when a file can't be read
   */
  public static Optional<ClientCertificate> certificate(Config config) throws IOException {
    Optional<String> chain = pem(config.getClientCertData(), config.getClientCertFile());
    Optional<String> key = keyPem(config);
    return chain.flatMap(found -> key.map(own -> new ClientCertificate(found, own)));
  }

  private static Optional<String> keyPem(Config config) throws IOException {
    return pem(config.getClientKeyData(), config.getClientKeyFile());
  }

  private static Optional<String> pem(@Nullable String data, @Nullable String file)
      throws IOException {
    if (data != null && !data.isEmpty()) {
      return Optional.of(
          new String(Base64.getMimeDecoder().decode(data), StandardCharsets.US_ASCII));
    }
    return file == null || file.isEmpty()
        ? Optional.empty()
        : Optional.of(Files.readString(Path.of(file), StandardCharsets.US_ASCII));
  }

  /**
   * There is no kubeconfig, or it names no cluster; the message says so, and where it was sought.
   */
  public static final class KubeconfigException extends IOException {

    private static final long serialVersionUID = 1L;

    /** With a message for people. */
    KubeconfigException(String message) {
      super(message);
    }
  }

  /**
   * Where an API server is and how a user logs in there: what a kubeconfig says in the simplest
   * case.
   *
   * @param authority certificates (PEM) that sign that of the API server; empty: the default of
   *     Java
   * @param certificate the user's certificate
   * @param token the user's bearer token
   * @param namespace the namespace of the context
   */
  public record ClusterAccess(
      URI server,
      Optional<String> authority,
      Optional<ClientCertificate> certificate,
      Optional<String> token,
      Optional<String> namespace) {

    /**
     * TLS towards the API server.
     *
     * @throws GeneralSecurityException when a certificate or a key can't be used
     */
    public SSLContext tls() throws GeneralSecurityException {
      return TlsContexts.client(authority, certificate);
    }

    @Override
    public String toString() {
      return "ClusterAccess[" + server + "]";
    }
  }
}
