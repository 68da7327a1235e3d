# Written by tools/stubgen; do not edit.
from typing import Any
from ..symbol.symbol import Symbol

Out = None

def det(A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """The determinant of square matrices."""
def extractdiag(A: Symbol | None = None, offset: int = 0, name: str | None = None,
                attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """A diagonal of square matrices."""
def extracttrian(A: Symbol | None = None, offset: int = 0, lower: bool = True,
                 name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                 **kwargs: Any) -> Symbol:
    """A triangle of square matrices, packed."""
def gelqf(A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """The factors of A = L · Q, the rows of Q orthonormal: Q, then L."""
def gemm(A: Symbol | None = None, B: Symbol | None = None, C: Symbol | None = None,
         transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1, beta: float = 1,
         axis: int = -2, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """The product of matrices and a sum, alpha · op(A) · op(B) + beta · C."""
def gemm2(A: Symbol | None = None, B: Symbol | None = None, transpose_a: bool = False,
          transpose_b: bool = False, alpha: float = 1, axis: int = -2, name: str | None = None,
          attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The product of matrices, alpha · op(A) · op(B)."""
def inverse(A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """The inverse of square matrices."""
def makediag(A: Symbol | None = None, offset: int = 0, name: str | None = None,
             attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Matrices with a given diagonal."""
def maketrian(A: Symbol | None = None, offset: int = 0, lower: bool = True, name: str | None = None,
              attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Matrices with a given packed triangle."""
def potrf(A: Symbol | None = None, lower: bool = True, name: str | None = None,
          attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The Cholesky factor L of symmetric positive definite matrices, A = L · Lᵀ."""
def potri(A: Symbol | None = None, lower: bool = True, name: str | None = None,
          attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The inverse of matrices from their Cholesky factor, (L · Lᵀ)⁻¹."""
def slogdet(A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """Sign and logarithm of the magnitude of the determinant of square matrices."""
def sumlogdiag(A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
               out: Out = None, **kwargs: Any) -> Symbol:
    """The sum of the logarithms of the diagonal."""
def syevd(A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """Eigenvectors, one per row, and eigenvalues of symmetric matrices."""
def syrk(A: Symbol | None = None, transpose: bool = False, alpha: float = 1,
         name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
         **kwargs: Any) -> Symbol:
    """The product of a matrix with its own transpose."""
def trmm(A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False,
         rightside: bool = False, lower: bool = True, alpha: float = 1, name: str | None = None,
         attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The product of a triangular matrix and a matrix."""
def trsm(A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False,
         rightside: bool = False, lower: bool = True, alpha: float = 1, name: str | None = None,
         attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Solves a system of equations with a triangular matrix."""
