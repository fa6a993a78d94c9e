package dev.sluice.server.auth;

import dev.sluice.kube.certificates.Pem;
import dev.sluice.server.certificates.ReloadableKeyManager;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trusts clients with a certificate of one of the authorities in a file, and this process itself,
 * which presents its serving certificate during warm-up.
 */
public final class ClientAuthority extends X509ExtendedTrustManager {

  private final X509ExtendedTrustManager authorities;
  private final ReloadableKeyManager own;

  private ClientAuthority(X509ExtendedTrustManager authorities, ReloadableKeyManager own) {
    this.authorities = authorities;
    this.own = own;
  }

  /**
   * Reads the authorities.
   *
   * @param file PEM, one or more certificates
   * @param own the serving certificate of this process
   * @throws IOException when the file cannot be read or contains no certificate
   */
  public static ClientAuthority of(Path file, ReloadableKeyManager own) throws IOException {
    try {
      List<X509Certificate> certificates = Pem.certificates(Files.readString(file));
      if (certificates.isEmpty()) {
        throw new IOException("webhook client authority " + file + " holds no certificate");
      }
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (int i = 0; i < certificates.size(); i++) {
        store.setCertificateEntry("authority-" + i, certificates.get(i));
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return new ClientAuthority(
          Stream.of(factory.getTrustManagers())
              .filter(X509ExtendedTrustManager.class::isInstance)
              .map(X509ExtendedTrustManager.class::cast)
              .findFirst()
              .orElseThrow(),
          own);
    } catch (GeneralSecurityException e) {
      throw new IOException("webhook client authority " + file + ": " + e.getMessage(), e);
    }
  }

  private boolean isOwn(X509Certificate[] chain) {
    return own.current().map(it -> it.certificate().equals(chain[0])).orElse(false);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    if (!isOwn(chain)) {
      authorities.checkClientTrusted(chain, type);
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    if (!isOwn(chain)) {
      authorities.checkClientTrusted(chain, type, socket);
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    if (!isOwn(chain)) {
      authorities.checkClientTrusted(chain, type, engine);
    }
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    throw new CertificateException("no servers here");
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    throw new CertificateException("no servers here");
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    throw new CertificateException("no servers here");
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return authorities.getAcceptedIssuers();
  }
}
