package dev.sluice.server.certificates;

import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.certificates.Pem;
import dev.sluice.server.certificates.ServerKeys.CertificateSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Certificates that the operator creates itself and shares between its replicas in a Secret. Each
 * certificate is replaced long before it expires. A new authority is published some time before it
 * signs certificates, and the old one stays trusted until it expires, so that no handshake fails
 * during the rotation.
 */
public final class InternalCertificates implements CertificateSource {

  static final Duration AUTHORITY_VALIDITY = Duration.ofDays(3650);
  static final Duration AUTHORITY_RENEWAL = Duration.ofDays(400);
  static final Duration SERVING_VALIDITY = Duration.ofDays(365);
  static final Duration SERVING_RENEWAL = Duration.ofDays(90);

  /** How long a new authority is published before a certificate that it signed is used. */
  static final Duration ANNOUNCEMENT = Duration.ofMinutes(10);

  private static final Logger log = LoggerFactory.getLogger(InternalCertificates.class);
  private static final int ATTEMPTS = 5;

  private final SecretAccess secret;
  private final CaBundleInjector publisher;
  private final ReloadableKeyManager keys;
  private final List<String> hosts;
  private final InstantSource clock;
  private final CertificateAuthority certificateAuthority;

  /**
   * Creates the source without creating certificates.
   *
   * @param hosts names and addresses of this process, at least one
   */
  public InternalCertificates(
      SecretAccess secret,
      CaBundleInjector publisher,
      ReloadableKeyManager keys,
      List<String> hosts,
      InstantSource clock,
      SecureRandom random) {
    if (hosts.isEmpty()) {
      throw new IllegalArgumentException("at least one host name is needed");
    }
    this.secret = secret;
    this.publisher = publisher;
    this.keys = keys;
    this.hosts = List.copyOf(hosts);
    this.clock = clock;
    this.certificateAuthority = new CertificateAuthority(clock, random);
  }

  /** The DNS names of a Service of the cluster. */
  public static List<String> serviceHosts(String service, String namespace) {
    return List.of(
        service + "." + namespace + ".svc",
        service + "." + namespace + ".svc.cluster.local",
        service + "." + namespace,
        service);
  }

  /** Publishes the authority before the certificate is used. */
  @Override
  public synchronized void refresh() throws GeneralSecurityException, IOException {
    ServingSecret content = loadOrRenew();
    publisher.publish(content.caBundle());
    X509Certificate certificate = content.serving().certificate();
    if (keys.current().map(used -> !used.certificate().equals(certificate)).orElse(true)) {
      keys.use(content.serving());
      log.info(
          "certificate subject=\"{}\" notAfter={} reason=in-use",
          certificate.getSubjectX500Principal().getName(),
          certificate.getNotAfter().toInstant());
    }
  }

  /**
   * The content of the Secret that all replicas use, created or renewed by the first replica that
   * needs it.
   */
  private ServingSecret loadOrRenew() throws GeneralSecurityException, IOException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Optional<SecretAccess.Stored> stored = secret.read();
      Optional<ServingSecret> found = stored.flatMap(it -> ServingSecret.parse(it.data()));
      ServingSecret wanted = found.isPresent() ? renewed(found.get()) : fresh();
      if (found.isPresent() && wanted.equals(found.get())) {
        return wanted;
      }
      if (secret.write(wanted.data(), stored.map(SecretAccess.Stored::version))) {
        return wanted;
      }
    }
    throw new IOException(
        "certificate secret was changed by others " + ATTEMPTS + " times in a row");
  }

  private ServingSecret fresh() throws GeneralSecurityException {
    CertificateWithKey authority = certificateAuthority.authority(AUTHORITY_VALIDITY);
    return new ServingSecret(
        List.of(authority.certificate()), authority, serving(authority, hosts));
  }

  private ServingSecret renewed(ServingSecret found) throws GeneralSecurityException {
    if (!isAuthorityUsable(found)) {
      return fresh();
    }
    if (endsWithin(found.authority().certificate(), AUTHORITY_RENEWAL)) {
      return withNewAuthority(found);
    }
    if (mustReissue(found)) {
      return new ServingSecret(
          found.authorities(),
          found.authority(),
          serving(found.authority(), union(found.serving().certificate())));
    }
    return found;
  }

  private ServingSecret withNewAuthority(ServingSecret found) throws GeneralSecurityException {
    CertificateWithKey authority = certificateAuthority.authority(AUTHORITY_VALIDITY);
    List<X509Certificate> trusted = new ArrayList<>();
    trusted.add(authority.certificate());
    found.authorities().stream().filter(it -> !endsWithin(it, Duration.ZERO)).forEach(trusted::add);
    CertificateWithKey serving =
        endsWithin(found.serving().certificate(), Duration.ZERO)
            ? serving(authority, union(found.serving().certificate()))
            : found.serving();
    return new ServingSecret(trusted, authority, serving);
  }

  private boolean isAuthorityUsable(ServingSecret found) {
    return found.authority().certificate().getBasicConstraints() >= 0
        && !endsWithin(found.authority().certificate(), Duration.ZERO)
        && found.authorities().stream()
            .anyMatch(authority -> isSignedBy(found.serving().certificate(), authority));
  }

  private boolean mustReissue(ServingSecret found) throws CertificateParsingException {
    X509Certificate certificate = found.serving().certificate();
    return endsWithin(certificate, SERVING_RENEWAL)
        || !names(certificate).containsAll(hosts)
        || !isSignedBy(certificate, found.authority().certificate()) && isAnnounced(found);
  }

  private boolean isAnnounced(ServingSecret found) {
    Instant made = found.authority().certificate().getNotBefore().toInstant();
    return made.plus(CertificateAuthority.BACKDATING).plus(ANNOUNCEMENT).isBefore(clock.instant());
  }

  private boolean endsWithin(X509Certificate certificate, Duration time) {
    return !certificate.getNotAfter().toInstant().isAfter(clock.instant().plus(time));
  }

  private static boolean isSignedBy(X509Certificate certificate, X509Certificate authority) {
    try {
      certificate.verify(authority.getPublicKey());
      return true;
    } catch (GeneralSecurityException notSigned) {
      return false;
    }
  }

  private CertificateWithKey serving(CertificateWithKey authority, List<String> names)
      throws GeneralSecurityException {
    return certificateAuthority.serving(authority, names, SERVING_VALIDITY);
  }

  /** Replicas may have different host names; each replica keeps the names of the others. */
  private List<String> union(X509Certificate certificate) throws CertificateParsingException {
    List<String> names = new ArrayList<>(hosts);
    names(certificate).stream().filter(name -> !hosts.contains(name)).forEach(names::add);
    return names;
  }

  private static TreeSet<String> names(X509Certificate certificate)
      throws CertificateParsingException {
    TreeSet<String> names = new TreeSet<>();
    var alternatives = certificate.getSubjectAlternativeNames();
    if (alternatives != null) {
      alternatives.forEach(alternative -> names.add(String.valueOf(alternative.get(1))));
    }
    return names;
  }

  /** Publishes the certificate authority of the operator's certificates to the API server. */
  @FunctionalInterface
  public interface CaBundleInjector {

    /**
     * Makes the API server trust these authorities; changes nothing if it does already.
     *
     * @param caBundle certificates in PEM, the newest first
     */
    void publish(String caBundle);
  }

  /** Access to the Secret that all replicas share. */
  public interface SecretAccess {

    /**
     * Content of the Secret.
     *
     * @param data decoded values
     * @param version resource version, to be passed to {@link #write}
     */
    record Stored(Map<String, byte[]> data, String version) {}

    /** The present content; empty if the Secret does not exist. */
    Optional<Stored> read();

    /**
     * Creates the Secret, or replaces the version that was read.
     *
     * @param version empty to create
     * @return false if another replica wrote first; the caller must read again
     */
    boolean write(Map<String, byte[]> data, Optional<String> version);
  }

  /**
   * Content of the shared Secret.
   *
   * @param authorities trusted certificates, the newest first
   * @param authority the newest authority with its key
   * @param serving the serving certificate
   */
  record ServingSecret(
      List<X509Certificate> authorities, CertificateWithKey authority, CertificateWithKey serving) {

    static final String CA_CERTIFICATE = "ca.crt";
    static final String CA_KEY = "ca.key";
    static final String CERTIFICATE = "tls.crt";
    static final String KEY = "tls.key";

    ServingSecret {
      authorities = List.copyOf(authorities);
    }

    /** Parses the Secret; empty if a part is missing, unreadable or inconsistent. */
    static Optional<ServingSecret> parse(Map<String, byte[]> data) {
      if (!data.keySet().containsAll(List.of(CA_CERTIFICATE, CA_KEY, CERTIFICATE, KEY))) {
        return Optional.empty();
      }
      try {
        String bundle = text(data, CA_CERTIFICATE);
        List<X509Certificate> authorities = Pem.certificates(bundle);
        CertificateWithKey authority =
            CertificateWithKey.parse(
                Pem.certificates(authorities.subList(0, 1)), text(data, CA_KEY));
        CertificateWithKey serving =
            CertificateWithKey.parse(text(data, CERTIFICATE), text(data, KEY));
        return Optional.of(new ServingSecret(authorities, authority, serving));
      } catch (GeneralSecurityException unusable) {
        return Optional.empty();
      }
    }

    Map<String, byte[]> data() throws GeneralSecurityException {
      return Map.of(
          CA_CERTIFICATE, bytes(caBundle()),
          CA_KEY, bytes(authority.keyPem()),
          CERTIFICATE, bytes(serving.certificatePem()),
          KEY, bytes(serving.keyPem()));
    }

    String caBundle() throws GeneralSecurityException {
      return Pem.certificates(authorities);
    }

    private static String text(Map<String, byte[]> data, String key) {
      byte[] value = data.get(key);
      return value == null ? "" : new String(value, StandardCharsets.US_ASCII);
    }

    private static byte[] bytes(String text) {
      return text.getBytes(StandardCharsets.US_ASCII);
    }
  }
}
