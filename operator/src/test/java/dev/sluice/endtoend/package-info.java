/**
 * The operator as a process of its own on a real control plane, in use, under load and while things
 * break around it. Manifests and faults enter. What leaves is the auditor's proof.
 */
@NullMarked
package dev.sluice.endtoend;

import org.jspecify.annotations.NullMarked;
