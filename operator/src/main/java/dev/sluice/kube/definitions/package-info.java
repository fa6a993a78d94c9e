/**
 * CustomResourceDefinitions: which kinds the API server serves besides its own. Changes enter from
 * one watch; answers and notifications leave.
 */
@NullMarked
package dev.sluice.kube.definitions;

import org.jspecify.annotations.NullMarked;
