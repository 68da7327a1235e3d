# Written by tools/stubgen; do not edit.
from collections.abc import Sequence
from typing import Any
from ..ndarray.ndarray import NDArray

Out = NDArray | Sequence[NDArray] | None

def det(A: NDArray | None = None, out: Out = None, name: str | None = None,
        **kwargs: Any) -> NDArray:
    """The determinant of square matrices."""
def extractdiag(A: NDArray | None = None, offset: int = 0, out: Out = None, name: str | None = None,
                **kwargs: Any) -> NDArray:
    """A diagonal of square matrices."""
def extracttrian(A: NDArray | None = None, offset: int = 0, lower: bool = True, out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """A triangle of square matrices, packed."""
def gelqf(A: NDArray | None = None, out: Out = None, name: str | None = None,
          **kwargs: Any) -> list[NDArray]:
    """The factors of A = L · Q, the rows of Q orthonormal: Q, then L."""
def gemm(A: NDArray | None = None, B: NDArray | None = None, C: NDArray | None = None,
         transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1, beta: float = 1,
         axis: int = -2, out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The product of matrices and a sum, alpha · op(A) · op(B) + beta · C."""
def gemm2(A: NDArray | None = None, B: NDArray | None = None, transpose_a: bool = False,
          transpose_b: bool = False, alpha: float = 1, axis: int = -2, out: Out = None,
          name: str | None = None, **kwargs: Any) -> NDArray:
    """The product of matrices, alpha · op(A) · op(B)."""
def inverse(A: NDArray | None = None, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """The inverse of square matrices."""
def makediag(A: NDArray | None = None, offset: int = 0, out: Out = None, name: str | None = None,
             **kwargs: Any) -> NDArray:
    """Matrices with a given diagonal."""
def maketrian(A: NDArray | None = None, offset: int = 0, lower: bool = True, out: Out = None,
              name: str | None = None, **kwargs: Any) -> NDArray:
    """Matrices with a given packed triangle."""
def potrf(A: NDArray | None = None, lower: bool = True, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """The Cholesky factor L of symmetric positive definite matrices, A = L · Lᵀ."""
def potri(A: NDArray | None = None, lower: bool = True, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """The inverse of matrices from their Cholesky factor, (L · Lᵀ)⁻¹."""
def slogdet(A: NDArray | None = None, out: Out = None, name: str | None = None,
            **kwargs: Any) -> list[NDArray]:
    """Sign and logarithm of the magnitude of the determinant of square matrices."""
def sumlogdiag(A: NDArray | None = None, out: Out = None, name: str | None = None,
               **kwargs: Any) -> NDArray:
    """The sum of the logarithms of the diagonal."""
def syevd(A: NDArray | None = None, out: Out = None, name: str | None = None,
          **kwargs: Any) -> list[NDArray]:
    """Eigenvectors, one per row, and eigenvalues of symmetric matrices."""
def syrk(A: NDArray | None = None, transpose: bool = False, alpha: float = 1, out: Out = None,
         name: str | None = None, **kwargs: Any) -> NDArray:
    """The product of a matrix with its own transpose."""
def trmm(A: NDArray | None = None, B: NDArray | None = None, transpose: bool = False,
         rightside: bool = False, lower: bool = True, alpha: float = 1, out: Out = None,
         name: str | None = None, **kwargs: Any) -> NDArray:
    """The product of a triangular matrix and a matrix."""
def trsm(A: NDArray | None = None, B: NDArray | None = None, transpose: bool = False,
         rightside: bool = False, lower: bool = True, alpha: float = 1, out: Out = None,
         name: str | None = None, **kwargs: Any) -> NDArray:
    """Solves a system of equations with a triangular matrix."""
