/**
 * Sources of the programs of a control plane: a directory that the user names, the local cache, the
 * official releases, and a build from published Go modules. Input: pinned versions and the user's
 * options. Output: paths of executable programs, with the reasons of the sources that failed.
 */
@NullMarked
package dev.sluice.lab.controlplane.binaries;

import org.jspecify.annotations.NullMarked;
