package io.ordertimeout.it.secure;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whoever certifies servers and clients for the time of a test. */
final class CertificateAuthority {

  private final X509Bundle root;

  private CertificateAuthority(X509Bundle root) {
    this.root = root;
  }

  static CertificateAuthority create(String name) throws Exception {
    return new CertificateAuthority(
        new CertificateBuilder()
            .ecp256()
            .subject("CN=" + name)
            .setIsCertificateAuthority(true)
            .buildSelfSigned());
  }

  /** A server on the loopback address, by that address and by no name. */
  X509Bundle server() throws Exception {
    return new CertificateBuilder()
        .ecp256()
        .subject("CN=server")
        .addSanIpAddress("127.0.0.1")
        .addExtendedKeyUsageServerAuth()
        .buildIssuedBy(root);
  }

  X509Bundle client() throws Exception {
    return new CertificateBuilder()
        .ecp256()
        .subject("CN=order-timeout")
        .addExtendedKeyUsageClientAuth()
        .buildIssuedBy(root);
  }

  /** The certificate of the authority itself. */
  String certificate() {
    return root.getCertificatePEM();
  }

  /** The same as a file. */
  Path certificateIn(Path directory) throws IOException {
    return Files.writeString(
        directory.resolve(root.getCertificate().getSerialNumber() + ".crt"), certificate());
  }
}
