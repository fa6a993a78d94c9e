package dev.sluice.kube.certificates;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  /**
   * Reads the forms of private keys that clusters make, with what Java has itself. Other forms are
   * left to a library that takes long to load.
   */
  static final class CommonKeys {

    private static final Pattern BLOCK =
        Pattern.compile(
            "\\s*+-----BEGIN (RSA )?PRIVATE KEY-----([A-Za-z0-9+/=\\s]++)"
                + "-----END (?:RSA )?PRIVATE KEY-----\\s*+");
    private static final String[] ALGORITHMS = {"RSA", "EC", "EdDSA"};
    private static final int SEQUENCE = 0x30;
    private static final int OCTETS = 0x04;
    private static final int SHORT = 0x80;
    private static final int BYTE = 0xff;

    /** Version 0 and the algorithm RSA, in DER. */
    private static final byte[] RSA = {
      0x02,
      0x01,
      0x00,
      0x30,
      0x0d,
      0x06,
      0x09,
      0x2a,
      (byte) 0x86,
      0x48,
      (byte) 0x86,
      (byte) 0xf7,
      0x0d,
      0x01,
      0x01,
      0x01,
      0x05,
      0x00
    };

    private CommonKeys() {}

    /** The key, if the text is one block of PKCS#8, or of PKCS#1 for RSA, and can be read. */
    static Optional<PrivateKey> read(String pem) {
      Matcher block = BLOCK.matcher(pem);
      if (!block.matches()) {
        return Optional.empty();
      }
      try {
        byte[] der = Base64.getMimeDecoder().decode(block.group(2));
        return key(block.group(1) == null ? der : ofRsa(der));
      } catch (IllegalArgumentException notBase64) {
        return Optional.empty();
      }
    }

    private static Optional<PrivateKey> key(byte[] pkcs8) {
      for (String algorithm : ALGORITHMS) {
        try {
          return Optional.of(
              KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8)));
        } catch (GeneralSecurityException ofAnother) {
          // The next algorithm is tried.
        }
      }
      return Optional.empty();
    }

    /** A key of PKCS#1 as one of PKCS#8. */
    private static byte[] ofRsa(byte[] pkcs1) {
      ByteArrayOutputStream content = new ByteArrayOutputStream();
      content.writeBytes(RSA);
      content.writeBytes(element(OCTETS, pkcs1));
      return element(SEQUENCE, content.toByteArray());
    }

    private static byte[] element(int tag, byte[] content) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.write(tag);
      int length = content.length;
      if (length < SHORT) {
        out.write(length);
      } else {
        int bytes = length <= BYTE ? 1 : length <= 0xffff ? 2 : 3;
        out.write(SHORT | bytes);
        for (int shift = (bytes - 1) * Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
          out.write(length >> shift & BYTE);
        }
      }
      out.writeBytes(content);
      return out.toByteArray();
    }
  }
}
