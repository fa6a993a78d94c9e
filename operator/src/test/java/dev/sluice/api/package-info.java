/**
 * What holds for the API types: how manifests read, which schemas come of them, how they convert.
 */
@NullMarked
package dev.sluice.api;

import org.jspecify.annotations.NullMarked;
