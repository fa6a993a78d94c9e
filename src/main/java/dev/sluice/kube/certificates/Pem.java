package dev.sluice.kube.certificates;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPrivateKey;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;

/** Certificates and keys as text. */
public final class Pem {

  private static final Base64.Encoder BASE64 =
      Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));

  private Pem() {}

  public static String certificates(Collection<X509Certificate> certificates)
      throws GeneralSecurityException {
    StringBuilder text = new StringBuilder();
    for (X509Certificate certificate : certificates) {
      text.append(block("CERTIFICATE", certificate.getEncoded()));
    }
    return text.toString();
  }

  /** A private key, in PKCS#8. */
  public static String key(PrivateKey key) {
    return block("PRIVATE KEY", key.getEncoded());
  }

  /** A public key. */
  public static String publicKey(PublicKey key) {
    return block("PUBLIC KEY", key.getEncoded());
  }

  /**
   * A key of type EC in the form of SEC 1, with the name of its curve.
   *
   * @throws GeneralSecurityException when it is a key of another type
   */
  public static String ellipticKey(PrivateKey key) throws GeneralSecurityException {
    if (!(key instanceof ECPrivateKey elliptic)) {
      throw new GeneralSecurityException("a key of type EC is needed, not " + key.getAlgorithm());
    }
    ASN1Encodable curve =
        PrivateKeyInfo.getInstance(key.getEncoded()).getPrivateKeyAlgorithm().getParameters();
    int bits = elliptic.getParams().getOrder().bitLength();
    try {
      return block(
          "EC PRIVATE KEY",
          new org.bouncycastle.asn1.sec.ECPrivateKey(bits, elliptic.getS(), curve).getEncoded());
    } catch (IOException e) {
      throw new GeneralSecurityException(e);
    }
  }

  /**
   * Every certificate in the text, in order.
   *
   * @throws GeneralSecurityException when there is none or one can't be read
   */
  public static List<X509Certificate> certificates(String pem) throws GeneralSecurityException {
    List<X509Certificate> result = new ArrayList<>();
    var in = new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII));
    for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
      result.add((X509Certificate) one);
    }
    if (result.isEmpty()) {
      throw new CertificateException("no certificate found, a PEM block CERTIFICATE is needed");
    }
    return result;
  }

  /**
   * The private key in the text: PKCS#8, or the older forms for RSA and elliptic curves.
   *
   * @throws GeneralSecurityException when there is none or it can't be read
   */
  public static PrivateKey privateKey(String pem) throws GeneralSecurityException {
    Optional<PrivateKey> common = CommonKeys.read(pem);
    return common.isPresent() ? common.get() : unusual(pem);
  }

  private static PrivateKey unusual(String pem) throws GeneralSecurityException {
    try (PEMParser parser = new PEMParser(new StringReader(pem))) {
      for (Object found = parser.readObject(); found != null; found = parser.readObject()) {
        if (found instanceof PrivateKeyInfo info) {
          return new JcaPEMKeyConverter().getPrivateKey(info);
        }
        if (found instanceof PEMKeyPair pair) {
          return new JcaPEMKeyConverter().getPrivateKey(pair.getPrivateKeyInfo());
        }
      }
    } catch (IOException e) {
      throw new GeneralSecurityException("private key can't be read: " + e.getMessage(), e);
    }
    throw new GeneralSecurityException("no unencrypted private key found");
  }

  private static String block(String type, byte[] content) {
    return "-----BEGIN "
        + type
        + "-----\n"
        + BASE64.encodeToString(content)
        + "\n-----END "
        + type
        + "-----\n";
  }
}
