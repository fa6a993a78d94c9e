/**
 * Makes the custom resource definitions out of the API types. The types and their annotations
 * enter; the files of the directory crds leave, and tests hold both to each other.
 */
@NullMarked
package dev.sluice.api.crd;

import org.jspecify.annotations.NullMarked;
