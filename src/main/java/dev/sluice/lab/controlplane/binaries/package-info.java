/**
 * Where the programs of a control plane come from: a directory the user names, the local cache, the
 * official releases, a build from published Go modules. Pinned versions and the user's wishes
 * enter. Paths of executable programs leave, together with the reasons of the sources that failed
 * on the way.
 */
@NullMarked
package dev.sluice.lab.controlplane.binaries;

import org.jspecify.annotations.NullMarked;
