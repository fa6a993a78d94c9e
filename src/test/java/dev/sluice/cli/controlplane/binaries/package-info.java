/** Tests of the chain of sources, with sources that are made for the purpose. */
@NullMarked
package dev.sluice.cli.controlplane.binaries;

import org.jspecify.annotations.NullMarked;
