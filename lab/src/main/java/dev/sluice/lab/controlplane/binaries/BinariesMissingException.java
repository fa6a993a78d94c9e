package dev.sluice.lab.controlplane.binaries;

import java.util.List;

/** No source has the programs of a control plane; the message names each source with its reason. */
public final class BinariesMissingException extends Exception {

  private static final long serialVersionUID = 1L;

  BinariesMissingException(Bundle bundle, List<String> reasons) {
    super(
        "no source has "
            + bundle.title()
            + " ("
            + String.join(", ", bundle.programs().stream().map(Program::file).toList())
            + "):"
            + System.lineSeparator()
            + String.join(
                System.lineSeparator(), reasons.stream().map(reason -> "  " + reason).toList())
            + System.lineSeparator()
            + "Name a directory that holds them with --binaries or SLUICE_CONTROL_PLANE_BINARIES,"
            + " or install Go.");
  }
}
