/** Routes a request to the verb and type that answer it. */
import type { ArmRequest, Decision, Draws, OperationKind } from "./contract.ts";
import type { State } from "./state.ts";

export function decide(_state: State, _request: ArmRequest, _draws: Draws): Decision {
  return { response: { status: 501, headers: {} }, changes: [] };
}

/** What kind of call a request is, told from the request alone; undefined for paths that name nothing known. */
export function operationKindOf(_request: ArmRequest): OperationKind | undefined {
  return undefined;
}
