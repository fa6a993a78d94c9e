package dev.sluice.server.certificates;

import dev.sluice.kube.certificates.CertificateWithKey;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Key manager whose key can be replaced: later handshakes use the new certificate while existing
 * connections continue. Thread-safe.
 */
public final class ReloadableKeyManager extends X509ExtendedKeyManager {

  private static final String PREFIX = "serving-";

  private final AtomicReference<@Nullable ActiveKey> current = new AtomicReference<>();

  private record ActiveKey(
      String alias, CertificateWithKey material, @Nullable ActiveKey previous) {}

  /** Uses this key for all later handshakes. */
  public void use(CertificateWithKey material) {
    current.updateAndGet(
        held ->
            new ActiveKey(
                PREFIX + material.certificate().getSerialNumber().toString(16),
                material,
                held == null ? null : new ActiveKey(held.alias(), held.material(), null)));
  }

  /** The key in use; empty before the first one was set. */
  public Optional<CertificateWithKey> current() {
    return Optional.ofNullable(current.get()).map(ActiveKey::material);
  }

  /** When the certificate in use ends; empty before the first one was set. */
  public Optional<Instant> expiry() {
    return current().map(used -> used.certificate().getNotAfter().toInstant());
  }

  /** Whether clients that look at the time refuse the certificate in use, because it has ended. */
  public boolean isExpired(Instant now) {
    return expiry().filter(end -> !end.isAfter(now)).isPresent();
  }

  /**
   * A TLS context that serves with this manager's key.
   *
   * @throws GeneralSecurityException when the platform does not support TLS
   */
  public SSLContext context() throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(new KeyManager[] {this}, null, null);
    return context;
  }

  /**
   * A TLS context that serves with this manager's key and verifies client certificates.
   *
   * @throws GeneralSecurityException when the platform does not support TLS
   */
  public SSLContext context(X509ExtendedTrustManager clients) throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(new KeyManager[] {this}, new TrustManager[] {clients}, null);
    return context;
  }

  /**
   * If a server asks for a client certificate, the serving certificate of this process is
   * presented.
   */
  @Override
  public @Nullable String chooseEngineClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, SSLEngine engine) {
    for (String keyType : keyTypes) {
      String alias = alias(keyType);
      if (alias != null) {
        return alias;
      }
    }
    return null;
  }

  @Override
  public @Nullable String chooseEngineServerAlias(
      String keyType, Principal @Nullable [] issuers, SSLEngine engine) {
    return alias(keyType);
  }

  @Override
  public @Nullable String chooseServerAlias(
      String keyType, Principal @Nullable [] issuers, Socket socket) {
    return alias(keyType);
  }

  @Override
  public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    String alias = alias(keyType);
    return alias == null ? null : new String[] {alias};
  }

  @Override
  public X509Certificate @Nullable [] getCertificateChain(String alias) {
    CertificateWithKey material = named(alias);
    return material == null ? null : material.chain().toArray(X509Certificate[]::new);
  }

  @Override
  public @Nullable PrivateKey getPrivateKey(String alias) {
    CertificateWithKey material = named(alias);
    return material == null ? null : material.key();
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return null;
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] keyType, Principal @Nullable [] issuers, Socket socket) {
    return null;
  }

  private @Nullable String alias(String keyType) {
    ActiveKey held = current.get();
    return held != null && keyType.equals(held.material().key().getAlgorithm())
        ? held.alias()
        : null;
  }

  /**
   * The key of an alias: a handshake that started before a replacement requests chain and key by
   * its earlier alias.
   */
  private @Nullable CertificateWithKey named(String alias) {
    ActiveKey held = current.get();
    while (held != null && !held.alias().equals(alias)) {
      held = held.previous();
    }
    return held == null ? null : held.material();
  }
}
