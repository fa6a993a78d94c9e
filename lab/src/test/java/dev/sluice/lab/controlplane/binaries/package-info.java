/** Tests of the chain of sources, with sources that are made for the purpose. */
@NullMarked
package dev.sluice.lab.controlplane.binaries;

import org.jspecify.annotations.NullMarked;
